// ggml's quantised blocks, one type per format: its size, and how a block becomes f32.
//
// Formulas and byte layouts are those of dequantize_row_* in ggml-quants.c. d is the block's f16
// scale, m (or dmin) its f16 minimum. Every product but Q6_K's last is exact in f32, so that a
// fused multiply-add gives the same bits as ggml's reference.
//
// Private to element_conversion.cc, which compiles these functions once per instruction set; hence
// everything is inlined. `block` and `out` do not overlap: without __restrict each block would
// begin with a test whether they do.
#ifndef TRENCADIS_MODELS_CHECKPOINT_QUANTIZED_BLOCKS_H_
#define TRENCADIS_MODELS_CHECKPOINT_QUANTIZED_BLOCKS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define TRENCADIS_INLINE [[gnu::always_inline]] inline

namespace trencadis::checkpoint {

template <typename T>
TRENCADIS_INLINE T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// F16BitsToF32 without branches, so that loops over it vectorise.
TRENCADIS_INLINE float F16ToF32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  const uint32_t rebias = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
  const uint32_t normal = (magnitude << 13) + rebias;
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  return std::bit_cast<float>(sign | (magnitude < 0x400u ? subnormal : normal));
}

TRENCADIS_INLINE float LoadF16(const std::byte* from) { return F16ToF32(Load<uint16_t>(from)); }
TRENCADIS_INLINE int LowHalf(std::byte pair) { return static_cast<int>(pair) & 15; }
TRENCADIS_INLINE int HighHalf(std::byte pair) { return static_cast<int>(pair) >> 4; }

// d | 32 × i8.
struct Q8_0Block {
  static constexpr int64_t kElements = 32, kBytes = 34;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block);
    for (int i = 0; i < 32; ++i) {
      out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
    }
  }
};

// d | 16 bytes; byte i holds elements i (low half) and i + 16 (high half), each plus 8.
struct Q4_0Block {
  static constexpr int64_t kElements = 32, kBytes = 18;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(LowHalf(block[2 + i]) - 8);
      out[i + 16] = d * static_cast<float>(HighHalf(block[2 + i]) - 8);
    }
  }
};

// d, m | 16 bytes as in Q4_0, without the 8.
struct Q4_1Block {
  static constexpr int64_t kElements = 32, kBytes = 20;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block), m = LoadF16(block + 2);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(LowHalf(block[4 + i])) + m;
      out[i + 16] = d * static_cast<float>(HighHalf(block[4 + i])) + m;
    }
  }
};

// d | the 32 elements' fifth bits | 16 bytes as in Q4_0; each element plus 16.
struct Q5_0Block {
  static constexpr int64_t kElements = 32, kBytes = 22;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block);
    const uint32_t fifth = Load<uint32_t>(block + 2);
    for (int i = 0; i < 16; ++i) {
      const int low = LowHalf(block[6 + i]) | static_cast<int>((fifth >> i & 1) << 4);
      const int high = HighHalf(block[6 + i]) | static_cast<int>((fifth >> (i + 16) & 1) << 4);
      out[i] = d * static_cast<float>(low - 16);
      out[i + 16] = d * static_cast<float>(high - 16);
    }
  }
};

// d, m | fifth bits | 16 bytes as in Q5_0, without the 16.
struct Q5_1Block {
  static constexpr int64_t kElements = 32, kBytes = 24;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block), m = LoadF16(block + 2);
    const uint32_t fifth = Load<uint32_t>(block + 4);
    for (int i = 0; i < 16; ++i) {
      const int low = LowHalf(block[8 + i]) | static_cast<int>((fifth >> i & 1) << 4);
      const int high = HighHalf(block[8 + i]) | static_cast<int>((fifth >> (i + 16) & 1) << 4);
      out[i] = d * static_cast<float>(low) + m;
      out[i + 16] = d * static_cast<float>(high) + m;
    }
  }
};

// A 6-bit scale and minimum of one of the eight sub-blocks of 32 in Q4_K and Q5_K, unpacked from 12
// bytes (get_scale_min_k4).
struct SubBlock {
  float scale;
  float minimum;
};
TRENCADIS_INLINE SubBlock UnpackSubBlock(const std::byte* packed, int index, float d, float dmin) {
  const auto at = [&](int i) { return static_cast<int>(packed[i]); };
  const int scale = index < 4 ? at(index) & 63 : (at(index + 4) & 15) | (at(index - 4) >> 6 << 4);
  const int minimum = index < 4 ? at(index + 4) & 63 : at(index + 4) >> 4 | (at(index) >> 6 << 4);
  return {d * static_cast<float>(scale), dmin * static_cast<float>(minimum)};
}

// d, dmin | 12 bytes of sub-blocks | 4 × 32 bytes, each of two sub-blocks (low and high halves).
struct Q4_KBlock {
  static constexpr int64_t kElements = 256, kBytes = 144;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block), dmin = LoadF16(block + 2);
    for (int pair = 0; pair < 4; ++pair) {
      const SubBlock low = UnpackSubBlock(block + 4, 2 * pair, d, dmin);
      const SubBlock high = UnpackSubBlock(block + 4, 2 * pair + 1, d, dmin);
      const std::byte* halves = block + 16 + 32 * pair;
      for (int i = 0; i < 32; ++i) {
        out[64 * pair + i] = low.scale * static_cast<float>(LowHalf(halves[i])) - low.minimum;
        out[64 * pair + 32 + i] =
            high.scale * static_cast<float>(HighHalf(halves[i])) - high.minimum;
      }
    }
  }
};

// As Q4_K, with 32 bytes of fifth bits before the halves: bit s of byte i is element i's in
// sub-block s.
struct Q5_KBlock {
  static constexpr int64_t kElements = 256, kBytes = 176;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block), dmin = LoadF16(block + 2);
    const std::byte* fifth = block + 16;
    for (int pair = 0; pair < 4; ++pair) {
      const SubBlock low = UnpackSubBlock(block + 4, 2 * pair, d, dmin);
      const SubBlock high = UnpackSubBlock(block + 4, 2 * pair + 1, d, dmin);
      const std::byte* halves = block + 48 + 32 * pair;
      for (int i = 0; i < 32; ++i) {
        const int bits = static_cast<int>(fifth[i]) >> 2 * pair;
        const int q_low = LowHalf(halves[i]) + (bits & 1) * 16;
        const int q_high = HighHalf(halves[i]) + (bits >> 1 & 1) * 16;
        out[64 * pair + i] = low.scale * static_cast<float>(q_low) - low.minimum;
        out[64 * pair + 32 + i] = high.scale * static_cast<float>(q_high) - high.minimum;
      }
    }
  }
};

// 128 bytes of low 4 bits | 64 bytes of high 2 bits | 16 × i8 scales of 16 elements | d; each
// element plus 32. Two halves of 128 elements, each in four runs of 32.
struct Q6_KBlock {
  static constexpr int64_t kElements = 256, kBytes = 210;
  TRENCADIS_INLINE static void Expand(const std::byte* __restrict block, float* __restrict out) {
    const float d = LoadF16(block + 208);
    for (int half = 0; half < 2; ++half) {
      const std::byte* low = block + 64 * half;
      const std::byte* high = block + 128 + 32 * half;
      for (int run = 0; run < 4; ++run) {
        const int half_shift = run < 2 ? 0 : 4;
        for (int i = 0; i < 32; ++i) {
          const int bits = (static_cast<int>(low[32 * (run % 2) + i]) >> half_shift & 15) |
                           (static_cast<int>(high[i]) >> 2 * run & 3) << 4;
          const float scale =
              static_cast<float>(static_cast<int8_t>(block[192 + 8 * half + 2 * run + i / 16]));
          out[128 * half + 32 * run + i] = d * scale * static_cast<float>(bits - 32);
        }
      }
    }
  }
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_QUANTIZED_BLOCKS_H_
