#include "runtime/core/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace trencadis {
namespace {

constexpr DType kAll[] = {DType::kF32, DType::kBF16, DType::kI32,
                          DType::kI64, DType::kBool, DType::kU8};

// A binary floating-point format, defined through doubles, which hold all its values exactly.
struct Format {
  int mantissa_bits;
  int exponent_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int max_exponent_field() const { return (1 << exponent_bits) - 1; }

  // IEEE 754-2008, section 3.4.
  double Decode(uint32_t bits) const {
    const int exponent = static_cast<int>(bits >> mantissa_bits) & max_exponent_field();
    const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    const double sign = bits >> (mantissa_bits + exponent_bits) & 1 ? -1 : 1;
    if (exponent == max_exponent_field()) {
      return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : sign * std::numeric_limits<double>::infinity();
    }
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias())
                         : sign * std::ldexp(1 + fraction, exponent - bias());
  }

  // The nearest value of the format, ties to even (section 4.3.1); too large becomes infinite.
  double Round(double value) const {
    if (value == 0 || !std::isfinite(value)) return value;
    const int exponent = std::max(std::ilogb(value), 1 - bias());
    const double unit = std::ldexp(1, exponent - mantissa_bits);
    const double rounded = std::nearbyint(value / unit) * unit;
    return std::fabs(rounded) < std::ldexp(1, bias() + 1)
               ? rounded
               : std::copysign(std::numeric_limits<double>::infinity(), value);
  }
};

constexpr Format kF16{.mantissa_bits = 10, .exponent_bits = 5};
constexpr Format kBF16{.mantissa_bits = 7, .exponent_bits = 8};

// Every value of the format, every middle between neighbours, and the floats next to both: rounding
// is monotonic, so a function right at all of these is right everywhere.
std::vector<float> DecisivePoints(const Format& format) {
  std::vector<float> points;
  const uint32_t infinity = format.max_exponent_field() << format.mantissa_bits;
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const double low = format.Decode(bits);
    const double high =
        bits + 1 < infinity ? format.Decode(bits + 1) : std::ldexp(1, format.bias() + 1);
    for (double center : {low, (low + high) / 2}) {
      const float point = static_cast<float>(center);
      for (float near : {point, std::nextafter(point, 0.0f), std::nextafter(point, HUGE_VALF)}) {
        points.push_back(near);
        points.push_back(-near);
      }
    }
  }
  for (float large : {std::numeric_limits<float>::max(), HUGE_VALF}) {
    points.push_back(large);
    points.push_back(-large);
  }
  return points;
}

TEST(DTypeTest, NamesRoundTrip) {
  for (DType dtype : kAll) EXPECT_EQ(*ParseDType(DTypeName(dtype)), dtype);
  EXPECT_EQ(ParseDType("f64").status().message(),
            "unknown dtype 'f64'; wanted f32, bf16, i32, i64, bool or u8");
  EXPECT_FALSE(ParseDType("").ok());
}

TEST(DTypeTest, SizesAndClasses) {
  EXPECT_EQ(ByteSize(DType::kF32), 4);
  EXPECT_EQ(ByteSize(DType::kBF16), 2);
  EXPECT_EQ(ByteSize(DType::kI32), 4);
  EXPECT_EQ(ByteSize(DType::kI64), 8);
  EXPECT_EQ(ByteSize(DType::kBool), 1);
  EXPECT_EQ(ByteSize(DType::kU8), 1);
  for (DType dtype : kAll) {
    EXPECT_EQ(IsFloat(dtype) + IsInteger(dtype) + (dtype == DType::kBool), 1);
  }
}

TEST(HalfTest, EveryF16DecodesAsDefined) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float decoded = F16BitsToF32(static_cast<uint16_t>(bits));
    const double expected = kF16.Decode(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(decoded)) << bits;
    } else {
      ASSERT_EQ(decoded, expected) << bits;
      ASSERT_EQ(std::signbit(decoded), std::signbit(expected)) << bits;
    }
  }
}

TEST(HalfTest, EveryF16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float decoded = F16BitsToF32(static_cast<uint16_t>(bits));
    const uint16_t encoded = F32ToF16Bits(decoded);
    if (std::isnan(decoded)) {
      ASSERT_TRUE(std::isnan(F16BitsToF32(encoded))) << bits;
    } else {
      ASSERT_EQ(encoded, bits);
    }
  }
}

TEST(HalfTest, F32ToF16RoundsAsDefined) {
  for (float point : DecisivePoints(kF16)) {
    const float rounded = F16BitsToF32(F32ToF16Bits(point));
    ASSERT_EQ(rounded, kF16.Round(point)) << point;
    ASSERT_EQ(std::signbit(rounded), std::signbit(point)) << point;
  }
}

TEST(BFloat16Test, EveryBF16DecodesAsDefinedAndSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float decoded = ToF32(BF16{static_cast<uint16_t>(bits)});
    const double expected = kBF16.Decode(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(decoded)) << bits;
      ASSERT_TRUE(std::isnan(ToF32(ToBF16(decoded)))) << bits;
    } else {
      ASSERT_EQ(decoded, expected) << bits;
      ASSERT_EQ(ToBF16(decoded).bits, bits);
    }
  }
}

TEST(BFloat16Test, F32ToBF16RoundsAsDefined) {
  for (float point : DecisivePoints(kBF16)) {
    const float rounded = ToF32(ToBF16(point));
    ASSERT_EQ(rounded, kBF16.Round(point)) << point;
    ASSERT_EQ(std::signbit(rounded), std::signbit(point)) << point;
  }
}

// A NaN whose set mantissa bits are all cut off must not become infinity.
TEST(BFloat16Test, NanWithALowPayloadStaysNan) {
  for (uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu}) {
    EXPECT_TRUE(std::isnan(ToF32(ToBF16(std::bit_cast<float>(bits)))));
    EXPECT_TRUE(std::isnan(F16BitsToF32(F32ToF16Bits(std::bit_cast<float>(bits)))));
  }
}

}  // namespace
}  // namespace trencadis
