#include "runtime/codegen/affine.h"

#include <gtest/gtest.h>

#include <random>

namespace trencadis::codegen {
namespace {

using Ints = std::vector<int64_t>;

int64_t Evaluate(const Affine& affine, const Ints& variables) {
  int64_t value = affine.constant;
  for (size_t v = 0; v < variables.size(); ++v) {
    value += affine.coefficient(static_cast<int>(v)) * variables[v];
  }
  return value;
}

TEST(AffineTest, EqualityIgnoresMissingCoefficients) {
  Affine a;
  a.AddTerm(2, 0);
  EXPECT_EQ(a, Affine{});
  a.AddTerm(0, 3);
  EXPECT_FALSE(a == Affine{});
}

TEST(DelinearizeTest, SplitsAnOffsetIntoDimensions) {
  // Offset 7 + 20 i + j in [3, 20] with i < 2, j < 10: column 7 + j fits, row i.
  VariableSplit split;
  const auto index = Delinearize({7, {20, 1}}, {3, 20}, {2, 10}, split);
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->dims[0], (Affine{0, {1, 0}}));
  EXPECT_EQ(index->dims[1], (Affine{7, {0, 1}}));
}

TEST(DelinearizeTest, HandlesReversedAxes) {
  VariableSplit split;
  const auto index = Delinearize({59, {-20, -1}}, {3, 20}, {3, 20}, split);
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->dims[0], (Affine{2, {-1, 0}}));
  EXPECT_EQ(index->dims[1], (Affine{19, {0, -1}}));
}

TEST(DelinearizeTest, AsksForASplitWhereAVariableCrossesABoundary) {
  VariableSplit split;
  EXPECT_FALSE(Delinearize({0, {1}}, {3, 20}, {60}, split).ok());
  EXPECT_EQ(split.variable, 0);
  EXPECT_EQ(split.inner, 20);
}

TEST(DelinearizeTest, RefusesUnevenBoundaries) {
  VariableSplit split;
  EXPECT_EQ(Delinearize({5, {1}}, {3, 20}, {20}, split).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(split.variable, -1);
  EXPECT_FALSE(Delinearize({0, {1}}, {6, 7}, {40}, split).ok());
  EXPECT_EQ(split.variable, -1);
}

// Whatever it accepts is right: dimensions in range that give back the offset.
TEST(DelinearizeTest, IsRightWhereItSucceeds) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int64_t>(random() % n); };
  int succeeded = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Ints shape = {1 + below(4), 2 + below(5), 1 + below(8)};
    const Ints extents = {1 + below(4), 1 + below(6)};
    const Affine linear = {below(40), {below(60) - 20, below(12) - 4}};
    VariableSplit split;
    const auto index = Delinearize(linear, shape, extents, split);
    if (!index.ok()) {
      if (split.variable >= 0) {
        EXPECT_EQ(extents[split.variable] % split.inner, 0);
      }
      continue;
    }
    ++succeeded;
    for (int64_t i = 0; i < extents[0]; ++i) {
      for (int64_t j = 0; j < extents[1]; ++j) {
        int64_t offset = 0;
        for (size_t d = 0; d < shape.size(); ++d) {
          const int64_t at = Evaluate(index->dims[d], {i, j});
          ASSERT_TRUE(at >= 0 && at < shape[d]);
          offset = offset * shape[d] + at;
        }
        ASSERT_EQ(offset, Evaluate(linear, {i, j}));
      }
    }
  }
  EXPECT_GT(succeeded, 1000);
}

TEST(ReshapedTest, MovesAxesOfSizeOneWithoutAsking) {
  VariableSplit split;
  const ElementIndex index{{4, 1, 5}, {{0, {1, 0}}, {}, {0, {0, 1}}}};
  const auto result = Reshaped(index, {1, 4, 5}, {4, 5}, split);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->dims[1], index.dims[0]);
  EXPECT_EQ(result->dims[2], index.dims[2]);
}

}  // namespace
}  // namespace trencadis::codegen
