#include "runtime/compiler/memory_planner.h"

#include <random>

#include "gtest/gtest.h"

namespace trencadis::compiler {
namespace {

constexpr uint64_t kAlignment = 64;

bool ShareStep(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

void ExpectSound(const std::vector<Lifetime>& values, const ArenaPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), values.size());
  EXPECT_GE(plan.arena_bytes, plan.lower_bound_bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + values[i].bytes, plan.arena_bytes);
    for (size_t j = 0; j < i; ++j) {
      if (!ShareStep(values[i], values[j]) || values[i].bytes == 0 || values[j].bytes == 0)
        continue;
      const bool apart = plan.offsets[i] + values[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + values[j].bytes <= plan.offsets[i];
      ASSERT_TRUE(apart) << "values " << i << " and " << j << " overlap";
    }
  }
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  const ArenaPlan plan = PlanArena({}, kAlignment);
  EXPECT_EQ(plan.arena_bytes, 0u);
  EXPECT_EQ(plan.lower_bound_bytes, 0u);
}

TEST(MemoryPlanner, ReusesMemoryOfTheDead) {
  const std::vector<Lifetime> values = {{100, 0, 1}, {100, 2, 3}, {10, 1, 2}};
  const ArenaPlan plan = PlanArena(values, kAlignment);
  ExpectSound(values, plan);
  EXPECT_EQ(plan.arena_bytes, 192u);  // 128 for the two, 64 for the small one
  EXPECT_EQ(plan.lower_bound_bytes, 192u);
  EXPECT_EQ(plan.peak_step, 1);
  EXPECT_EQ(plan.fragmentation_bytes(), 0u);
}

TEST(MemoryPlanner, FillsTheSmallestGapThatFits) {
  // A long-lived value splits what two short ones leave: the later ones must fit beside it.
  const std::vector<Lifetime> values = {
      {256, 0, 1}, {64, 0, 9}, {128, 0, 1}, {128, 2, 9}, {256, 2, 9}};
  const ArenaPlan plan = PlanArena(values, kAlignment);
  ExpectSound(values, plan);
  EXPECT_EQ(plan.arena_bytes, 448u);
}

TEST(MemoryPlanner, LiveBytesCountEachStep) {
  const std::vector<Lifetime> values = {{1, 0, 2}, {65, 1, 1}};
  EXPECT_EQ(LiveBytes(values, kAlignment, 4), (std::vector<uint64_t>{64, 192, 64, 0}));
}

// No overlap of what is alive together and no less than the lower bound, for any lifetimes.
TEST(MemoryPlanner, RandomLifetimesNeverOverlap) {
  std::mt19937 random(20240501);
  uint64_t arena = 0;
  uint64_t bound = 0;
  for (int round = 0; round < 200; ++round) {
    const int count = std::uniform_int_distribution<int>(1, 120)(random);
    const int steps = std::uniform_int_distribution<int>(1, 60)(random);
    std::vector<Lifetime> values;
    for (int i = 0; i < count; ++i) {
      const int first = std::uniform_int_distribution<int>(0, steps - 1)(random);
      const int longest = round % 2 == 0 ? steps : 6;
      const int last =
          std::min(steps - 1, first + std::uniform_int_distribution<int>(0, longest)(random));
      const int size_class = std::uniform_int_distribution<int>(0, 3)(random);
      const uint64_t bytes = std::uniform_int_distribution<int>(0, 1 << (5 * size_class))(random);
      values.push_back({bytes, first, last});
    }
    const ArenaPlan plan = PlanArena(values, kAlignment);
    ExpectSound(values, plan);
    arena += plan.arena_bytes;
    bound += plan.lower_bound_bytes;
  }
  // Over all rounds, best fit stays close to what no planner can beat.
  EXPECT_LE(arena, bound + bound / 10);
}

}  // namespace
}  // namespace trencadis::compiler
