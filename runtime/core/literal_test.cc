#include "runtime/core/literal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trencadis {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr DType kAll[] = {DType::kF32, DType::kBF16, DType::kI32,
                          DType::kI64, DType::kBool, DType::kU8};

TEST(LiteralTest, StartsFilledWithZeros) {
  const Literal literal({DType::kI32, {2, 3}});
  EXPECT_EQ(literal.bytes().size(), 24);
  EXPECT_THAT(literal.data<int32_t>(), Each(0));
  EXPECT_EQ(Literal().bytes().size(), Literal().type().byte_size());
  EXPECT_EQ(Literal({DType::kF32, {2, 0}}).bytes().size(), 0);
}

TEST(LiteralTest, HoldsVectorsOfEachType) {
  EXPECT_EQ(Literal::FromVector<float>({2}, {1, 2}).type().ToString(), "f32[2]");
  EXPECT_EQ(Literal::FromVector<BF16>({1}, {ToBF16(1)}).type().ToString(), "bf16[1]");
  EXPECT_EQ(Literal::FromVector<int32_t>({1, 1}, {1}).type().ToString(), "i32[1,1]");
  EXPECT_EQ(Literal::FromVector<uint8_t>({0}, {}).type().ToString(), "u8[0]");
  EXPECT_EQ(Literal::FromVector<bool>({2}, {true, false}).type().ToString(), "bool[2]");
  EXPECT_EQ(Literal::Scalar<int64_t>(3).type().ToString(), "i64[]");
}

TEST(LiteralTest, DoublesRoundTripThroughEachType) {
  for (DType dtype : kAll) {
    Literal literal({dtype, {2}});
    literal.SetDouble(0, 1);
    EXPECT_EQ(literal.AsDouble(0), 1) << DTypeName(dtype);
    EXPECT_EQ(literal.AsDouble(1), 0) << DTypeName(dtype);
  }
}

TEST(LiteralTest, StoringRoundsFloatsAndTruncatesIntegers) {
  Literal bf16({DType::kBF16, {1}});
  bf16.SetDouble(0, 1.01);
  EXPECT_EQ(bf16.AsDouble(0), 1.0078125);
  Literal i32({DType::kI32, {1}});
  i32.SetDouble(0, -2.9);
  EXPECT_EQ(i32.AsDouble(0), -2);
  Literal boolean({DType::kBool, {1}});
  boolean.SetDouble(0, 0.25);
  EXPECT_EQ(boolean.AsDouble(0), 1);
}

TEST(LiteralTest, IntegersSaturateAndNanIsZero) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::tuple<DType, double, double> kLimits[] = {{DType::kI32, -2147483648.0, 2147483647.0},
                                                       {DType::kI64, -0x1p63, 0x1p63},
                                                       {DType::kU8, 0, 255}};
  for (const auto& [dtype, low, high] : kLimits) {
    Literal literal({dtype, {3}});
    literal.SetDouble(0, -infinity);
    literal.SetDouble(1, infinity);
    literal.SetDouble(2, NAN);
    EXPECT_EQ(literal.AsDouble(0), low);
    EXPECT_EQ(literal.AsDouble(1), high);  // For i64, 2^63 - 1 as the nearest double.
    EXPECT_EQ(literal.AsDouble(2), 0);
  }
}

TEST(LiteralTest, ConvertsEveryElement) {
  const Literal source = Literal::FromVector<float>({2, 2}, {0, 1.5, -3, 300});
  EXPECT_THAT(source.ConvertTo(DType::kI64).data<int64_t>(), ElementsAre(0, 1, -3, 300));
  EXPECT_THAT(source.ConvertTo(DType::kBool).data<bool>(), ElementsAre(false, true, true, true));
  EXPECT_EQ(source.ConvertTo(DType::kF32), source);
  const Literal large = Literal::Scalar<int64_t>((int64_t{1} << 60) + 1);
  EXPECT_EQ(large.ConvertTo(DType::kI64), large);
}

TEST(LiteralTest, TextIsCutAtTheLimit) {
  const Literal literal = Literal::FromVector<int32_t>({3}, {1, 2, 3});
  EXPECT_EQ(literal.ToString(), "i32[3] {1, 2, 3}");
  EXPECT_EQ(literal.ToString(2), "i32[3] {1, 2, ...}");
  EXPECT_EQ(Literal({DType::kF32, {0}}).ToString(), "f32[0] {}");
}

TEST(LiteralTest, EqualityIsOfTypeAndBytes) {
  EXPECT_EQ(Literal::Scalar(1.0f), Literal::Scalar(1.0f));
  EXPECT_NE(Literal::Scalar(0.0f), Literal::Scalar(-0.0f));
  EXPECT_NE(Literal::Scalar(1.0f), Literal::FromVector<float>({1}, {1}));
}

}  // namespace
}  // namespace trencadis
