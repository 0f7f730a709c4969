#include "runtime/device/memory_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace trencadis {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

bool IsAligned(const std::byte* data, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

MemoryPool::Block Acquire(MemoryPool& pool, int64_t bytes) {
  const absl::StatusOr<MemoryPool::Block> block = pool.Acquire(bytes);
  EXPECT_TRUE(block.ok()) << block.status();
  return block.value_or(MemoryPool::Block{});
}

TEST(MemoryPoolTest, BlocksAreLargeEnoughAlignedAndWritable) {
  MemoryPool pool;
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{65}, int64_t{4096}, kMiB - 1, kMiB,
                              3 * kMiB + 5, 40 * kMiB + 1}) {
    const MemoryPool::Block block = Acquire(pool, bytes);
    EXPECT_GE(block.capacity_bytes, bytes);
    EXPECT_TRUE(IsAligned(block.data, bytes >= kMiB ? 2 * kMiB : 64)) << bytes;
    std::memset(block.data, 1, block.capacity_bytes);
    pool.Release(block);
  }
}

TEST(MemoryPoolTest, AReleasedBlockServesTheNextRequestOfItsSize) {
  MemoryPool pool;
  pool.SetIdleLimit(64 * kMiB);
  const MemoryPool::Block first = Acquire(pool, 16 * kMiB);
  pool.Release(first);
  EXPECT_EQ(pool.idle_bytes(), 16 * kMiB);
  // A block with an eighth of waste at most.
  const MemoryPool::Block second = Acquire(pool, 14 * kMiB);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(second.capacity_bytes, 16 * kMiB);
  EXPECT_EQ(pool.idle_bytes(), 0);
  pool.Release(second);
  const MemoryPool::Block small = Acquire(pool, 8 * kMiB);
  EXPECT_NE(small.data, first.data);
  EXPECT_EQ(pool.idle_bytes(), 16 * kMiB);
  pool.Release(small);
}

TEST(MemoryPoolTest, IdleBlocksStayBelowTheLimitAndTheLargestGoFirst) {
  MemoryPool pool;
  const MemoryPool::Block small = Acquire(pool, 2 * kMiB);
  const MemoryPool::Block large = Acquire(pool, 32 * kMiB);
  pool.SetIdleLimit(33 * kMiB);
  pool.Release(small);
  pool.Release(large);
  EXPECT_EQ(pool.idle_bytes(), small.capacity_bytes);
  pool.SetIdleLimit(0);
  EXPECT_EQ(pool.idle_bytes(), 0);
}

TEST(MemoryPoolTest, SaysWhenTheHostHasNoMore) {
  MemoryPool pool;
  EXPECT_EQ(pool.Acquire(int64_t{1} << 60).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace trencadis
