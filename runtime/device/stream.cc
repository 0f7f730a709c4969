#include "runtime/device/stream.h"

#include <utility>

namespace trencadis {

Stream::Stream(int run_ahead) : run_ahead_(run_ahead), thread_([this] { Run(); }) {}

Stream::~Stream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::Enqueue(std::function<absl::Status()> work) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.size() < run_ahead_; });
  queue_.push_back(std::move(work));
  lock.unlock();
  changed_.notify_all();
}

absl::Status Stream::Synchronize() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  return status_;
}

absl::Status Stream::status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

void Stream::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<absl::Status()> work = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    const bool poisoned = !status_.ok();
    lock.unlock();
    changed_.notify_all();  // there is room again
    absl::Status result = poisoned ? absl::OkStatus() : work();
    // What the work holds (storage of dropped buffers) goes before anyone is told that it is done.
    work = nullptr;
    lock.lock();
    busy_ = false;
    if (status_.ok() && !result.ok()) status_ = std::move(result);
    changed_.notify_all();
  }
}

}  // namespace trencadis
