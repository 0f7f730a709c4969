#include "models/checkpoint/element_conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <utility>
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

// The value of element `e` of a block, each format's definition read one element at a time.
using Definition = float (*)(const std::vector<int>& block, int e);

float HalfAt(const std::vector<int>& block, int at) {
  return F16BitsToF32(static_cast<uint16_t>(block[at] | block[at + 1] << 8));
}

int Nibble(int byte, bool high) { return high ? byte >> 4 : byte & 15; }

int FiveBits(const std::vector<int>& block, int fifth_at, int e) {
  const int fifth = block[fifth_at + e / 8] >> e % 8 & 1;
  return Nibble(block[fifth_at + 4 + e % 16], e >= 16) | fifth << 4;
}

// d times the scale, and dmin times the minimum, of sub-block `s`.
std::pair<float, float> ScaleAndMinimum(const std::vector<int>& block, int s) {
  const int* q = &block[4];
  const int scale = s < 4 ? q[s] & 63 : (q[s + 4] & 15) | (q[s - 4] >> 6) << 4;
  const int minimum = s < 4 ? q[s + 4] & 63 : q[s + 4] >> 4 | (q[s] >> 6) << 4;
  return {HalfAt(block, 0) * scale, HalfAt(block, 2) * minimum};
}

float Q4K(const std::vector<int>& block, int e) {
  const auto [scale, minimum] = ScaleAndMinimum(block, e / 32);
  return scale * Nibble(block[16 + e / 64 * 32 + e % 32], e / 32 % 2) - minimum;
}

float Q5K(const std::vector<int>& block, int e) {
  const auto [scale, minimum] = ScaleAndMinimum(block, e / 32);
  const int fifth = block[16 + e % 32] >> e / 32 & 1;
  return scale * (Nibble(block[48 + e / 64 * 32 + e % 32], e / 32 % 2) + 16 * fifth) - minimum;
}

float Q6K(const std::vector<int>& block, int e) {
  const int low = Nibble(block[e / 128 * 64 + e % 64], e % 128 >= 64);
  const int high = block[128 + e / 128 * 32 + e % 32] >> e % 128 / 32 * 2 & 3;
  return HalfAt(block, 208) * static_cast<int8_t>(block[192 + e / 16]) * ((low | high << 4) - 32);
}

TEST(ElementConversionTest, BlockFormatsFollowTheirDefinitions) {
  const struct {
    StoredType type;
    std::vector<int> f16_at;  // where in a block the scales are
    Definition value;
  } cases[] = {
      {StoredType::kQ5_0,
       {0},
       [](auto& b, int e) { return HalfAt(b, 0) * (FiveBits(b, 2, e) - 16); }},
      {StoredType::kQ5_1,
       {0, 2},
       [](auto& b, int e) { return HalfAt(b, 0) * FiveBits(b, 4, e) + HalfAt(b, 2); }},
      {StoredType::kQ4_K, {0, 2}, Q4K},
      {StoredType::kQ5_K, {0, 2}, Q5K},
      {StoredType::kQ6_K, {208}, Q6K},
  };
  std::mt19937 random(1);
  for (const auto& c : cases) {
    const BlockLayout layout = LayoutOf(c.type);
    for (int round = 0; round < 20; ++round) {
      std::vector<int> block(layout.bytes);
      for (int& byte : block) byte = random() % 256;
      for (int at : c.f16_at) block[at + 1] = 0x30 + random() % 16;  // moderate, finite
      const std::vector<float> out = ToFloats(c.type, Bytes(block), layout.elements);
      for (int e = 0; e < layout.elements; ++e) {
        ASSERT_EQ(out[e], c.value(block, e)) << static_cast<int>(c.type) << " element " << e;
      }
    }
  }
}

TEST(ElementConversionTest, BooleansBecomeZeroOrOne) {
  std::vector<std::byte> out(3);
  ConvertElements(StoredType::kBool, Bytes({0, 1, 255}), DType::kBool, absl::MakeSpan(out));
  EXPECT_EQ(out, Bytes({0, 1, 1}));
}

}  // namespace
}  // namespace trencadis::checkpoint
