#include "runtime/device/memory_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(MemoryStatsTest, HasTheKeysOfTheHpu) {
  MemoryAccountant accountant(1000);
  ASSERT_TRUE(accountant.Allocate(300).ok());
  ASSERT_TRUE(accountant.Allocate(100).ok());
  accountant.Free(300);
  ASSERT_TRUE(accountant.GrowWorkspace(200).ok());
  EXPECT_THAT(accountant.stats().HpuKeys(),
              ElementsAre(Pair("Limit", 1000), Pair("InUse", 300), Pair("MaxInUse", 400),
                          Pair("NumAllocs", 2), Pair("NumFrees", 1), Pair("ActiveAllocs", 1),
                          Pair("MaxAllocSize", 300), Pair("TotalSystemAllocs", 2),
                          Pair("TotalSystemFrees", 1), Pair("TotalActiveAllocs", 1)));
}

TEST(MemoryStatsTest, TheLimitHoldsForTensorsAndWorkspaceTogether) {
  MemoryAccountant accountant(1000);
  ASSERT_TRUE(accountant.Allocate(600).ok());
  ASSERT_TRUE(accountant.GrowWorkspace(400).ok());
  const absl::Status tensor = accountant.Allocate(1);
  EXPECT_EQ(tensor.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(tensor.message()), HasSubstr("use a smaller batch"));
  EXPECT_EQ(accountant.GrowWorkspace(401).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(accountant.stats().in_use_bytes, 1000);
  EXPECT_EQ(accountant.stats().num_allocs, 1);
  EXPECT_TRUE(accountant.Allocate(0).ok());
}

TEST(MemoryStatsTest, TheWorkspaceOnlyGrows) {
  MemoryAccountant accountant(1000);
  ASSERT_TRUE(accountant.GrowWorkspace(300).ok());
  ASSERT_TRUE(accountant.GrowWorkspace(100).ok());
  EXPECT_EQ(accountant.stats().workspace_bytes, 300);
  ASSERT_TRUE(accountant.GrowWorkspace(500).ok());
  EXPECT_EQ(accountant.stats().in_use_bytes, 500);
  EXPECT_EQ(accountant.stats().max_persistent_bytes, 0);
}

TEST(MemoryStatsTest, PeaksStartAnewAtAReset) {
  MemoryAccountant accountant(1000);
  ASSERT_TRUE(accountant.Allocate(700).ok());
  accountant.Free(700);
  ASSERT_TRUE(accountant.Allocate(100).ok());
  EXPECT_EQ(accountant.stats().max_in_use_bytes, 700);
  EXPECT_EQ(accountant.stats().max_persistent_bytes, 700);
  accountant.ResetPeak();
  EXPECT_EQ(accountant.stats().max_in_use_bytes, 100);
  EXPECT_EQ(accountant.stats().max_persistent_bytes, 100);
}

}  // namespace
}  // namespace trencadis
