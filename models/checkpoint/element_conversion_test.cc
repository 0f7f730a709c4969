#include "models/checkpoint/element_conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

namespace trencadis::checkpoint {
namespace {

std::vector<std::byte> Bytes(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<float> ToFloats(StoredType type, const std::vector<std::byte>& stored, int64_t n) {
  std::vector<float> out(n);
  ConvertElements(type, stored, DType::kF32,
                  {reinterpret_cast<std::byte*>(out.data()), n * sizeof(float)});
  return out;
}

// Every f16 value, against the conversion that the rest of the runtime uses.
TEST(ElementConversionTest, AllHalfPrecisionValues) {
  std::vector<std::byte> stored(2 << 16);
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    std::memcpy(&stored[2 * bits], &half, 2);
  }
  const std::vector<float> floats = ToFloats(StoredType::kF16, stored, 1 << 16);
  std::vector<uint16_t> narrowed(1 << 16);
  ConvertElements(StoredType::kF16, stored, DType::kBF16,
                  {reinterpret_cast<std::byte*>(narrowed.data()), stored.size()});
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const float expected = F16BitsToF32(static_cast<uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<uint32_t>(floats[bits]), std::bit_cast<uint32_t>(expected)) << bits;
    ASSERT_EQ(narrowed[bits], ToBF16(expected).bits) << bits;
  }
}

TEST(ElementConversionTest, RoundsF32ToBF16LikeTheRuntime) {
  const std::vector<float> values = {1.0f,   1.00390625f, 1.01171875f, -3.3895314e38f, 3.4e38f,
                                     1e-40f, INFINITY,    NAN,         -0.0f};
  std::vector<std::byte> stored(values.size() * 4);
  std::memcpy(stored.data(), values.data(), stored.size());
  std::vector<uint16_t> out(values.size());
  ConvertElements(StoredType::kF32, stored, DType::kBF16,
                  {reinterpret_cast<std::byte*>(out.data()), out.size() * 2});
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(out[i], ToBF16(values[i]).bits) << i;
}

TEST(ElementConversionTest, DequantisesQ8_0) {
  std::vector<int> block = {0x00, 0x38};  // d = 0.5
  for (int i = 0; i < 32; ++i) block.push_back(i - 16);
  const std::vector<float> out = ToFloats(StoredType::kQ8_0, Bytes(block), 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 0.5f * (i - 16));
}

TEST(ElementConversionTest, DequantisesFourBitTypes) {
  std::vector<int> q4_0 = {0x00, 0x40};              // d = 2
  std::vector<int> q4_1 = {0x00, 0x40, 0x00, 0xbc};  // d = 2, m = -1
  for (int i = 0; i < 16; ++i) {
    q4_0.push_back(i | (15 - i) << 4);
    q4_1.push_back(i | (15 - i) << 4);
  }
  const std::vector<float> signed_values = ToFloats(StoredType::kQ4_0, Bytes(q4_0), 32);
  const std::vector<float> shifted_values = ToFloats(StoredType::kQ4_1, Bytes(q4_1), 32);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(signed_values[i], 2 * (i - 8));
    EXPECT_EQ(signed_values[16 + i], 2 * (7 - i));
    EXPECT_EQ(shifted_values[i], 2 * i - 1);
    EXPECT_EQ(shifted_values[16 + i], 2 * (15 - i) - 1);
  }
}

TEST(ElementConversionTest, BooleansBecomeZeroOrOne) {
  std::vector<std::byte> out(3);
  ConvertElements(StoredType::kBool, Bytes({0, 1, 255}), DType::kBool, absl::MakeSpan(out));
  EXPECT_EQ(out, Bytes({0, 1, 1}));
}

}  // namespace
}  // namespace trencadis::checkpoint
