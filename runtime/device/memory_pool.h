// MemoryPool: the bytes behind device buffers, kept mapped between uses.
//
// A fresh page costs far more than a used one, so a released block waits for the next request of
// about its size. Blocks of 1 MiB and more are mapped on huge pages. Idle blocks never exceed the
// idle limit; the largest go first. Thread-safe. Contents of a block are unspecified, never zeroed.
#ifndef TRENCADIS_RUNTIME_DEVICE_MEMORY_POOL_H_
#define TRENCADIS_RUNTIME_DEVICE_MEMORY_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "absl/status/statusor.h"

namespace trencadis {

class MemoryPool {
 public:
  struct Block {
    std::byte* data = nullptr;
    int64_t capacity_bytes = 0;
  };

  MemoryPool() = default;
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // A block of at least `bytes` (64-byte aligned), or ResourceExhausted when the host has no more.
  absl::StatusOr<Block> Acquire(int64_t bytes);
  void Release(Block block);

  // Idle blocks are unmapped until at most `bytes` of them are left, now and after each release.
  void SetIdleLimit(int64_t bytes);
  int64_t idle_bytes() const;

 private:
  void TrimLocked();

  mutable std::mutex mutex_;
  std::multimap<int64_t, std::byte*> idle_;  // by capacity
  int64_t idle_bytes_ = 0;
  int64_t idle_limit_bytes_ = 0;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_MEMORY_POOL_H_
