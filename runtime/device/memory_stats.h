// MemoryAccountant: how much device memory is in use, under the device's limit.
//
// Keys and meanings are the HPU's (habana_frameworks memory_stats). Accounting follows the order in
// which the host issues work, never the order in which it finishes, so the peak is the same in
// every run and on the metering device. Thread-safe.
#ifndef TRENCADIS_RUNTIME_DEVICE_MEMORY_STATS_H_
#define TRENCADIS_RUNTIME_DEVICE_MEMORY_STATS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis {

struct MemoryStats {
  int64_t limit_bytes = 0;
  int64_t in_use_bytes = 0;      // persistent tensors and workspace
  int64_t max_in_use_bytes = 0;  // since the last peak reset
  int64_t num_allocs = 0;
  int64_t num_frees = 0;
  int64_t active_allocs = 0;
  int64_t max_alloc_bytes = 0;
  // The two parts of in_use, and the largest each has been.
  int64_t persistent_bytes = 0;
  int64_t max_persistent_bytes = 0;
  int64_t workspace_bytes = 0;

  // The HPU's keys in its order: Limit, InUse, MaxInUse, NumAllocs, NumFrees, ActiveAllocs,
  // MaxAllocSize, TotalSystemAllocs, TotalSystemFrees, TotalActiveAllocs.
  std::vector<std::pair<std::string, int64_t>> HpuKeys() const;
};

class MemoryAccountant {
 public:
  explicit MemoryAccountant(int64_t limit_bytes) { stats_.limit_bytes = limit_bytes; }

  // Takes `bytes` for a persistent tensor. ResourceExhausted when that would exceed the limit; then
  // nothing changes.
  absl::Status Allocate(int64_t bytes);
  void Free(int64_t bytes);
  // The workspace becomes `bytes` if it is smaller.
  absl::Status GrowWorkspace(int64_t bytes);

  MemoryStats stats() const;
  void ResetPeak();

 private:
  absl::Status CheckRoom(int64_t bytes, absl::string_view what) const;
  void UpdatePeaks();

  mutable std::mutex mutex_;
  MemoryStats stats_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_MEMORY_STATS_H_
