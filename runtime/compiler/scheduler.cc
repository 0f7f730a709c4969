#include "runtime/compiler/scheduler.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace trencadis::compiler {
namespace {

// One run of list scheduling.
class ListScheduler {
 public:
  ListScheduler(const ScheduleProblem& problem, bool with_preferences)
      : problem_(problem),
        size_(static_cast<int32_t>(problem.predecessors.size())),
        successors_(size_),
        missing_(size_, 0),
        delta_(size_, 0),
        reads_(size_),
        readers_left_(problem.values.size()),
        done_(size_, false) {
    for (int32_t node = 0; node < size_; ++node) {
      for (int32_t before : problem.predecessors[node]) AddEdge(before, node);
    }
    if (with_preferences) {
      for (const auto& [before, after] : problem.preferences) AddEdge(before, after);
    }
    for (size_t i = 0; i < problem.values.size(); ++i) {
      const ScheduleProblem::Value& value = problem.values[i];
      if (!value.readers.empty()) delta_[value.producer] += static_cast<int64_t>(value.bytes);
      readers_left_[i] = static_cast<int32_t>(value.readers.size());
      for (int32_t reader : value.readers) reads_[reader].push_back(static_cast<int32_t>(i));
      if (value.readers.size() == 1) delta_[value.readers[0]] -= static_cast<int64_t>(value.bytes);
    }
  }

  // Fewer nodes than there are if the preferences contradict the predecessors.
  std::vector<int32_t> Run() {
    std::vector<int32_t> order;
    order.reserve(size_);
    for (int32_t node = 0; node < size_; ++node) {
      if (missing_[node] == 0) MakeReady(node);
    }
    for (int32_t node = Next(); node >= 0; node = Next()) {
      done_[node] = true;
      order.push_back(node);
      for (int32_t value : reads_[node]) NoteRead(value);
      for (int32_t successor : successors_[node]) {
        if (--missing_[successor] == 0) MakeReady(successor);
      }
    }
    return order;
  }

 private:
  void AddEdge(int32_t before, int32_t after) {
    successors_[before].push_back(after);
    ++missing_[after];
  }

  void MakeReady(int32_t node) {
    ready_.push(node);
    if (delta_[node] < 0) freeing_.emplace(delta_[node], node);
  }

  // When one reader is left it will free the value, which may make it urgent.
  void NoteRead(int32_t value) {
    if (--readers_left_[value] != 1) return;
    for (int32_t reader : problem_.values[value].readers) {
      if (done_[reader]) continue;
      delta_[reader] -= static_cast<int64_t>(problem_.values[value].bytes);
      if (missing_[reader] == 0 && delta_[reader] < 0) freeing_.emplace(delta_[reader], reader);
    }
  }

  int32_t Next() {
    while (!freeing_.empty()) {
      const auto [delta, node] = freeing_.top();
      freeing_.pop();
      if (!done_[node] && delta == delta_[node]) return node;
    }
    while (!ready_.empty()) {
      const int32_t node = ready_.top();
      ready_.pop();
      if (!done_[node]) return node;
    }
    return -1;
  }

  template <typename T>
  using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

  const ScheduleProblem& problem_;
  const int32_t size_;
  std::vector<std::vector<int32_t>> successors_;
  std::vector<int32_t> missing_;  // predecessors that have not run
  std::vector<int64_t> delta_;    // bytes that running the node adds, as far as known
  std::vector<std::vector<int32_t>> reads_;
  std::vector<int32_t> readers_left_;
  std::vector<bool> done_;
  MinHeap<int32_t> ready_;                        // program order
  MinHeap<std::pair<int64_t, int32_t>> freeing_;  // stale entries are skipped
};

}  // namespace

uint64_t PeakLiveBytes(const ScheduleProblem& problem, absl::Span<const int32_t> order) {
  std::vector<int32_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int32_t>(i);
  std::vector<uint64_t> allocated(order.size() + 1, 0);
  std::vector<uint64_t> freed(order.size() + 1, 0);
  for (const ScheduleProblem::Value& value : problem.values) {
    int32_t last = position[value.producer];
    for (int32_t reader : value.readers) last = std::max(last, position[reader]);
    allocated[position[value.producer]] += value.bytes;
    freed[last + 1] += value.bytes;
  }
  uint64_t live = 0;
  uint64_t peak = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    live = live + allocated[i] - freed[i];
    peak = std::max(peak, live);
  }
  return peak;
}

std::vector<int32_t> Schedule(const ScheduleProblem& problem) {
  const size_t size = problem.predecessors.size();
  std::vector<int32_t> program(size);
  for (size_t i = 0; i < size; ++i) program[i] = static_cast<int32_t>(i);
  std::vector<int32_t> order = ListScheduler(problem, true).Run();
  if (order.size() < size) order = ListScheduler(problem, false).Run();
  const bool program_will_do =
      std::all_of(problem.preferences.begin(), problem.preferences.end(),
                  [](const auto& wish) { return wish.first < wish.second; });
  if (!program_will_do) return order;
  return PeakLiveBytes(problem, program) <= PeakLiveBytes(problem, order) ? program : order;
}

}  // namespace trencadis::compiler
