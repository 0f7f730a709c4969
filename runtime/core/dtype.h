// Element types of tensors, and the bf16/f16 conversions that everything shares.
//
// The six types a Tensor may have. f16 exists only in files and is converted on load.
#ifndef TRENCADIS_RUNTIME_CORE_DTYPE_H_
#define TRENCADIS_RUNTIME_CORE_DTYPE_H_

#include <bit>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis {

enum class DType : uint8_t { kF32, kBF16, kI32, kI64, kBool, kU8 };

// Bytes of one element; kBool takes one byte holding 0 or 1.
int64_t ByteSize(DType dtype);
// "f32", "bf16", "i32", "i64", "bool", "u8".
absl::string_view DTypeName(DType dtype);
absl::StatusOr<DType> ParseDType(absl::string_view name);

inline bool IsFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16; }
inline bool IsInteger(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kU8;
}

// A bfloat16 by its bits. Converting from f32 rounds to nearest, ties to even; NaN stays (quiet)
// NaN.
struct BF16 {
  uint16_t bits = 0;
};

inline float ToF32(BF16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

inline BF16 ToBF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

// IEEE 754 binary16 bits to f32, exactly (subnormals, infinities and NaN included).
float F16BitsToF32(uint16_t bits);
// f32 to binary16 bits, rounding to nearest, ties to even; overflow becomes infinity.
uint16_t F32ToF16Bits(float value);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_CORE_DTYPE_H_
