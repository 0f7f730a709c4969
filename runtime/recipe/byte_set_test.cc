#include "runtime/recipe/byte_set.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace trencadis::recipe {
namespace {

TEST(ByteSet, EmptyRangesAreAlwaysIn) {
  const ByteSet set;
  EXPECT_TRUE(set.Contains(5, 5));
  EXPECT_FALSE(set.Contains(5, 6));
}

TEST(ByteSet, NeighboursMerge) {
  ByteSet set;
  set.Add(0, 4);
  set.Add(8, 12);
  EXPECT_FALSE(set.Contains(0, 12));
  set.Add(4, 8);
  EXPECT_TRUE(set.Contains(0, 12));
}

TEST(ByteSet, RemovingCutsIntervals) {
  ByteSet set;
  set.Add(0, 10);
  set.Remove(3, 5);
  EXPECT_TRUE(set.Contains(0, 3));
  EXPECT_TRUE(set.Contains(5, 10));
  EXPECT_FALSE(set.Contains(2, 6));
}

TEST(ByteSet, AgreesWithABitmap) {
  std::mt19937 random(3);
  constexpr int kSize = 40;
  for (int round = 0; round < 200; ++round) {
    ByteSet set;
    std::vector<bool> bits(kSize, false);
    for (int i = 0; i < 30; ++i) {
      int begin = std::uniform_int_distribution<int>(0, kSize)(random);
      int end = std::uniform_int_distribution<int>(0, kSize)(random);
      if (begin > end) std::swap(begin, end);
      const bool add = std::uniform_int_distribution<int>(0, 2)(random) > 0;
      add ? set.Add(begin, end) : set.Remove(begin, end);
      for (int b = begin; b < end; ++b) bits[b] = add;
    }
    for (int begin = 0; begin < kSize; ++begin) {
      bool all = true;
      for (int end = begin; end <= kSize; ++end) {
        ASSERT_EQ(set.Contains(begin, end), all);
        all = all && end < kSize && bits[end];
      }
    }
  }
}

}  // namespace
}  // namespace trencadis::recipe
