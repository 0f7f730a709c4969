#include "runtime/device/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace trencadis {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kHugeThreshold = int64_t{1} << 20;
// A block may serve a request if at most this share of it is wasted.
constexpr int64_t kWasteDivisor = 8;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Blocks just above the threshold round to a whole small page only: two MiB for one would be waste.
int64_t CapacityFor(int64_t bytes) {
  if (bytes >= 8 * kHugePage) return RoundUp(bytes, kHugePage);
  return RoundUp(std::max<int64_t>(bytes, 1), bytes >= kHugeThreshold ? 4096 : kAlignment);
}

bool IsMapped(int64_t capacity_bytes) { return capacity_bytes >= kHugeThreshold; }

std::byte* Map(int64_t capacity_bytes) {
  if (!IsMapped(capacity_bytes)) {
    return static_cast<std::byte*>(std::aligned_alloc(kAlignment, capacity_bytes));
  }
  // Over-map and cut so that the block starts on a huge page.
  const int64_t mapped_bytes = capacity_bytes + kHugePage;
  void* raw =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = aligned + RoundUp(capacity_bytes, 4096);
  if (aligned > address) munmap(raw, aligned - address);
  if (address + mapped_bytes > end)
    munmap(reinterpret_cast<void*>(end), address + mapped_bytes - end);
  madvise(reinterpret_cast<void*>(aligned), capacity_bytes, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(aligned);
}

void Unmap(std::byte* data, int64_t capacity_bytes) {
  if (IsMapped(capacity_bytes)) {
    munmap(data, RoundUp(capacity_bytes, 4096));
  } else {
    std::free(data);
  }
}

}  // namespace

MemoryPool::~MemoryPool() { SetIdleLimit(0); }

absl::StatusOr<MemoryPool::Block> MemoryPool::Acquire(int64_t bytes) {
  const int64_t wanted = CapacityFor(bytes);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = idle_.lower_bound(wanted);
    if (it != idle_.end() && it->first - wanted <= it->first / kWasteDivisor) {
      const Block block{it->second, it->first};
      idle_bytes_ -= it->first;
      idle_.erase(it);
      return block;
    }
  }
  std::byte* data = Map(wanted);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the host has no ", wanted, " bytes left for the device"));
  }
  return Block{data, wanted};
}

void MemoryPool::Release(Block block) {
  std::lock_guard<std::mutex> lock(mutex_);
  idle_.emplace(block.capacity_bytes, block.data);
  idle_bytes_ += block.capacity_bytes;
  TrimLocked();
}

void MemoryPool::SetIdleLimit(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  idle_limit_bytes_ = bytes;
  TrimLocked();
}

int64_t MemoryPool::idle_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return idle_bytes_;
}

void MemoryPool::TrimLocked() {
  while (idle_bytes_ > idle_limit_bytes_ && !idle_.empty()) {
    const auto largest = std::prev(idle_.end());
    Unmap(largest->second, largest->first);
    idle_bytes_ -= largest->first;
    idle_.erase(largest);
  }
}

}  // namespace trencadis
