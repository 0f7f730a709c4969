#include "runtime/core/dtype.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace trencadis {
namespace {

struct Info {
  DType dtype;
  int64_t byte_size;
  absl::string_view name;
};

constexpr Info kInfos[] = {
    {DType::kF32, 4, "f32"}, {DType::kBF16, 2, "bf16"}, {DType::kI32, 4, "i32"},
    {DType::kI64, 8, "i64"}, {DType::kBool, 1, "bool"}, {DType::kU8, 1, "u8"},
};

const Info& InfoOf(DType dtype) { return kInfos[static_cast<size_t>(dtype)]; }

}  // namespace

int64_t ByteSize(DType dtype) { return InfoOf(dtype).byte_size; }

absl::string_view DTypeName(DType dtype) { return InfoOf(dtype).name; }

absl::StatusOr<DType> ParseDType(absl::string_view name) {
  for (const Info& info : kInfos) {
    if (info.name == name) return info.dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown dtype '", name, "'; wanted f32, bf16, i32, i64, bool or u8"));
}

float F16BitsToF32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24, exact in f32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

uint16_t F32ToF16Bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {
    // Adding 0.5 leaves the rounded subnormal in the low mantissa bits of the sum.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000u);
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded - 0x38000000u) >> 13);
}

}  // namespace trencadis
