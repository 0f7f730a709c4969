#include "models/checkpoint/element_conversion.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/checkpoint/quantized_blocks.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read without byte swapping");

// Elements converted at a time where a value passes through f32 on its way to bf16: fits in L1.
constexpr int64_t kStagedElements = 2048;

// Each Expand* writes the f32 values of `n` elements (whole blocks).

TRENCADIS_INLINE void ExpandF16(const std::byte* __restrict from, int64_t n,
                                float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = F16ToF32(Load<uint16_t>(from + 2 * i));
}

TRENCADIS_INLINE void ExpandBF16(const std::byte* __restrict from, int64_t n,
                                 float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = ToF32(BF16{Load<uint16_t>(from + 2 * i)});
}

TRENCADIS_INLINE void ExpandF64(const std::byte* __restrict from, int64_t n,
                                float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(Load<double>(from + 8 * i));
}

template <typename Block>
TRENCADIS_INLINE void ExpandBlocks(const std::byte* from, int64_t n, float* out) {
  for (int64_t block = 0; block < n / Block::kElements; ++block) {
    Block::Expand(from + block * Block::kBytes, out + block * Block::kElements);
  }
}

TRENCADIS_INLINE void Expand(StoredType type, const std::byte* from, int64_t n, float* out) {
  switch (type) {
    case StoredType::kF32:
      std::memcpy(out, from, n * sizeof(float));
      return;
    case StoredType::kF16:
      return ExpandF16(from, n, out);
    case StoredType::kBF16:
      return ExpandBF16(from, n, out);
    case StoredType::kF64:
      return ExpandF64(from, n, out);
    case StoredType::kQ8_0:
      return ExpandBlocks<Q8_0Block>(from, n, out);
    case StoredType::kQ4_0:
      return ExpandBlocks<Q4_0Block>(from, n, out);
    case StoredType::kQ4_1:
      return ExpandBlocks<Q4_1Block>(from, n, out);
    case StoredType::kQ5_0:
      return ExpandBlocks<Q5_0Block>(from, n, out);
    case StoredType::kQ5_1:
      return ExpandBlocks<Q5_1Block>(from, n, out);
    case StoredType::kQ4_K:
      return ExpandBlocks<Q4_KBlock>(from, n, out);
    case StoredType::kQ5_K:
      return ExpandBlocks<Q5_KBlock>(from, n, out);
    case StoredType::kQ6_K:
      return ExpandBlocks<Q6_KBlock>(from, n, out);
    default:
      TRENCADIS_CHECK(false && "only floats are expanded");
  }
}

// Bits of ToBF16(value), without branches.
TRENCADIS_INLINE uint16_t RoundToBF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
}

TRENCADIS_INLINE void NarrowToBF16(StoredType type, const std::byte* from, int64_t n,
                                   std::byte* out) {
  const BlockLayout layout = LayoutOf(type);
  alignas(64) float staged[kStagedElements];
  uint16_t narrowed[kStagedElements];
  while (n > 0) {
    const int64_t count = std::min(n, kStagedElements);
    Expand(type, from, count, staged);
    for (int64_t i = 0; i < count; ++i) narrowed[i] = RoundToBF16(staged[i]);
    std::memcpy(out, narrowed, count * sizeof(uint16_t));
    from += count / layout.elements * layout.bytes;
    out += count * sizeof(uint16_t);
    n -= count;
  }
}

// Whole blocks to `dtype`, f32 or bf16.
TRENCADIS_INLINE void ConvertFloats(StoredType type, const std::byte* from, int64_t n, DType dtype,
                                    std::byte* out) {
  if (dtype == DType::kF32) return Expand(type, from, n, reinterpret_cast<float*>(out));
  NarrowToBF16(type, from, n, out);
}

// The same loops compiled for three instruction sets. Every operation in them is exact or rounds
// once, so that all three give the same bits.
void ConvertFloatsAnywhere(StoredType type, const std::byte* from, int64_t n, DType dtype,
                           std::byte* out) {
  ConvertFloats(type, from, n, dtype, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void ConvertFloatsAvx2(StoredType type, const std::byte* from,
                                                   int64_t n, DType dtype, std::byte* out) {
  ConvertFloats(type, from, n, dtype, out);
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]] void
ConvertFloatsAvx512(StoredType type, const std::byte* from, int64_t n, DType dtype,
                    std::byte* out) {
  ConvertFloats(type, from, n, dtype, out);
}
#endif

using FloatConverter = void (*)(StoredType, const std::byte*, int64_t, DType, std::byte*);

FloatConverter ChooseFloatConverter() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return ConvertFloatsAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return ConvertFloatsAvx2;
#endif
  return ConvertFloatsAnywhere;
}

}  // namespace

BlockLayout LayoutOf(StoredType type) {
  switch (type) {
    case StoredType::kF32:
    case StoredType::kI32:
      return {1, 4};
    case StoredType::kF16:
    case StoredType::kBF16:
      return {1, 2};
    case StoredType::kF64:
    case StoredType::kI64:
      return {1, 8};
    case StoredType::kU8:
    case StoredType::kBool:
      return {1, 1};
    case StoredType::kQ8_0:
      return {Q8_0Block::kElements, Q8_0Block::kBytes};
    case StoredType::kQ4_0:
      return {Q4_0Block::kElements, Q4_0Block::kBytes};
    case StoredType::kQ4_1:
      return {Q4_1Block::kElements, Q4_1Block::kBytes};
    case StoredType::kQ5_0:
      return {Q5_0Block::kElements, Q5_0Block::kBytes};
    case StoredType::kQ5_1:
      return {Q5_1Block::kElements, Q5_1Block::kBytes};
    case StoredType::kQ4_K:
      return {Q4_KBlock::kElements, Q4_KBlock::kBytes};
    case StoredType::kQ5_K:
      return {Q5_KBlock::kElements, Q5_KBlock::kBytes};
    case StoredType::kQ6_K:
      return {Q6_KBlock::kElements, Q6_KBlock::kBytes};
  }
  TRENCADIS_CHECK(false && "not a StoredType");
}

DType NaturalDType(StoredType type) {
  switch (type) {
    case StoredType::kBF16:
      return DType::kBF16;
    case StoredType::kI32:
      return DType::kI32;
    case StoredType::kI64:
      return DType::kI64;
    case StoredType::kU8:
      return DType::kU8;
    case StoredType::kBool:
      return DType::kBool;
    default:
      return DType::kF32;
  }
}

void ConvertElements(StoredType type, absl::Span<const std::byte> stored, DType dtype,
                     absl::Span<std::byte> out) {
  const BlockLayout layout = LayoutOf(type);
  const int64_t elements = static_cast<int64_t>(out.size()) / ByteSize(dtype);
  TRENCADIS_CHECK(elements % layout.elements == 0);
  TRENCADIS_CHECK(static_cast<int64_t>(stored.size()) == elements / layout.elements * layout.bytes);
  if (elements == 0) return;
  if (type == StoredType::kBool) {
    // Anything but 0 is true; a Literal may hold only 0 and 1.
    std::transform(stored.begin(), stored.end(), out.begin(),
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
  } else if (dtype == NaturalDType(type) && dtype != DType::kF32) {
    std::memcpy(out.data(), stored.data(), stored.size());
  } else {
    static const FloatConverter convert = ChooseFloatConverter();
    convert(type, stored.data(), elements, dtype, out.data());
  }
}

}  // namespace trencadis::checkpoint
