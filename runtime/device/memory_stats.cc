#include "runtime/device/memory_stats.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/base/status.h"

namespace trencadis {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

}  // namespace

std::vector<std::pair<std::string, int64_t>> MemoryStats::HpuKeys() const {
  return {{"Limit", limit_bytes},
          {"InUse", in_use_bytes},
          {"MaxInUse", max_in_use_bytes},
          {"NumAllocs", num_allocs},
          {"NumFrees", num_frees},
          {"ActiveAllocs", active_allocs},
          {"MaxAllocSize", max_alloc_bytes},
          {"TotalSystemAllocs", num_allocs},
          {"TotalSystemFrees", num_frees},
          {"TotalActiveAllocs", active_allocs}};
}

absl::Status MemoryAccountant::CheckRoom(int64_t bytes, absl::string_view what) const {
  if (stats_.in_use_bytes + bytes <= stats_.limit_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("out of device memory: %s of %.2f MiB wanted, but %.2f of %.2f MiB are in "
                      "use (persistent tensors %.2f, "
                      "workspace %.2f); use a smaller batch or sequence, gradient checkpointing, "
                      "bf16 or a larger device",
                      what, bytes / kMiB, stats_.in_use_bytes / kMiB, stats_.limit_bytes / kMiB,
                      stats_.persistent_bytes / kMiB, stats_.workspace_bytes / kMiB));
}

void MemoryAccountant::UpdatePeaks() {
  stats_.in_use_bytes = stats_.persistent_bytes + stats_.workspace_bytes;
  stats_.max_in_use_bytes = std::max(stats_.max_in_use_bytes, stats_.in_use_bytes);
  stats_.max_persistent_bytes = std::max(stats_.max_persistent_bytes, stats_.persistent_bytes);
}

absl::Status MemoryAccountant::Allocate(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  TRENCADIS_RETURN_IF_ERROR(CheckRoom(bytes, "a tensor"));
  stats_.persistent_bytes += bytes;
  ++stats_.num_allocs;
  ++stats_.active_allocs;
  stats_.max_alloc_bytes = std::max(stats_.max_alloc_bytes, bytes);
  UpdatePeaks();
  return absl::OkStatus();
}

void MemoryAccountant::Free(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.persistent_bytes -= bytes;
  ++stats_.num_frees;
  --stats_.active_allocs;
  UpdatePeaks();
}

absl::Status MemoryAccountant::GrowWorkspace(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t growth = bytes - stats_.workspace_bytes;
  if (growth <= 0) return absl::OkStatus();
  TRENCADIS_RETURN_IF_ERROR(CheckRoom(growth, "workspace growth"));
  stats_.workspace_bytes = bytes;
  UpdatePeaks();
  return absl::OkStatus();
}

MemoryStats MemoryAccountant::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

void MemoryAccountant::ResetPeak() {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.max_in_use_bytes = stats_.in_use_bytes;
  stats_.max_persistent_bytes = stats_.persistent_bytes;
}

}  // namespace trencadis
