// Stream: work that runs one piece after another, on a thread of its own.
//
// The first failure poisons the stream: later work is dropped and Synchronize returns that failure
// from then on. At most `run_ahead` pieces wait at any time; Enqueue blocks until there is room, so
// the memory that issued work still holds is bounded. Thread-safe.
#ifndef TRENCADIS_RUNTIME_DEVICE_STREAM_H_
#define TRENCADIS_RUNTIME_DEVICE_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace trencadis {

class Stream {
 public:
  explicit Stream(int run_ahead);
  // Runs what is queued, then ends the thread.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Enqueue(std::function<absl::Status()> work);
  // Waits for all work issued so far; the first failure, if any.
  absl::Status Synchronize();
  // The first failure so far, without waiting.
  absl::Status status() const;

 private:
  void Run();

  const size_t run_ahead_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<absl::Status()>> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  absl::Status status_;
  std::thread thread_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_STREAM_H_
