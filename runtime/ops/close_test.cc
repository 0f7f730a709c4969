#include "runtime/ops/close.h"

#include <limits>

#include "gtest/gtest.h"

namespace trencadis::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool Close(float got, float want, Tolerance tolerance) {
  return CheckClose(Literal::Scalar(got), Literal::Scalar(want), tolerance).ok();
}

TEST(CloseTest, AddsTheTolerances) {
  EXPECT_TRUE(Close(10.5f, 10, {.relative = 0.04, .absolute = 0.1}));
  EXPECT_FALSE(Close(10.6f, 10, {.relative = 0.04, .absolute = 0.1}));
  EXPECT_TRUE(Close(-0.0f, 0.0f, {}));
  EXPECT_FALSE(Close(1.0000001f, 1, {}));
}

TEST(CloseTest, NanAndInfinitiesMatchOnlyThemselves) {
  const Tolerance wide = {.relative = 1, .absolute = 1e30};
  EXPECT_TRUE(Close(kNan, kNan, {}));
  EXPECT_FALSE(Close(kNan, 1, wide));
  EXPECT_FALSE(Close(1, kNan, wide));
  EXPECT_TRUE(Close(kInf, kInf, {}));
  EXPECT_FALSE(Close(kInf, -kInf, wide));
  EXPECT_FALSE(Close(1, kInf, wide));
}

TEST(CloseTest, Bf16MayBeTheNeighbour) {
  const Literal one = Literal::Scalar(BF16{0x3f80});
  EXPECT_TRUE(CheckClose(Literal::Scalar(BF16{0x3f81}), one, {}).ok());
  EXPECT_FALSE(CheckClose(Literal::Scalar(BF16{0x3f82}), one, {}).ok());
}

TEST(CloseTest, IntegersAreExact) {
  const Tolerance wide = {.relative = 1, .absolute = 10};
  EXPECT_FALSE(CheckClose(Literal::Scalar(int32_t{1}), Literal::Scalar(int32_t{2}), wide).ok());
  const int64_t large = (int64_t{1} << 60) + 1;
  EXPECT_FALSE(CheckClose(Literal::Scalar(large), Literal::Scalar(large - 1), wide).ok());
  EXPECT_TRUE(CheckClose(Literal::Scalar(large), Literal::Scalar(large), {}).ok());
}

TEST(CloseTest, SaysWhatDiffers) {
  EXPECT_EQ(CheckClose(Literal::FromVector<float>({2, 2}, {1, 2, 3, 4}),
                       Literal::FromVector<float>({2, 2}, {1, 2, 5, 6}), {})
                .message(),
            "2 of 4 elements of f32[2,2] differ; the first at [1,0]: got 3; wanted 5");
  EXPECT_EQ(CheckClose(Literal::Scalar(1.0f), Literal::Scalar(int32_t{1}), {}).message(),
            "got f32[]; wanted i32[]");
}

}  // namespace
}  // namespace trencadis::ops
