// The code of vector_kernels.h for whatever instruction set the including file is compiled for.
//
// Included by vector_kernels_*.cc only. It includes no header with inline functions: their copies
// for a larger instruction set could be the ones that the linker keeps.
#ifndef TRENCADIS_RUNTIME_KERNELS_VECTOR_KERNELS_IMPL_H_
#define TRENCADIS_RUNTIME_KERNELS_VECTOR_KERNELS_IMPL_H_

#include <stdint.h>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#include "runtime/kernels/vector_kernels.h"

#if defined(__AVX512F__)
#define TRENCADIS_LANES 16
#define TRENCADIS_VECTOR_EXPF _ZGVeN16v_expf
#elif defined(__AVX2__)
#define TRENCADIS_LANES 8
#define TRENCADIS_VECTOR_EXPF _ZGVdN8v_expf
#else
#define TRENCADIS_LANES 4
#define TRENCADIS_VECTOR_EXPF _ZGVbN4v_expf
#endif

namespace {

constexpr int kLanes = TRENCADIS_LANES;
// Elements whose f32 partial sums are added up before they join the double total.
constexpr int64_t kSumBlock = 2048;

typedef float VecF __attribute__((vector_size(kLanes * 4)));
typedef float VecFUnaligned __attribute__((vector_size(kLanes * 4), aligned(4)));
typedef int32_t VecI __attribute__((vector_size(kLanes * 4)));
typedef uint32_t VecU __attribute__((vector_size(kLanes * 4)));
typedef uint16_t VecH __attribute__((vector_size(kLanes * 2)));
typedef uint16_t VecHUnaligned __attribute__((vector_size(kLanes * 2), aligned(2)));

// exp of each lane, from glibc's libmvec (at most 1 ulp off its scalar expf).
extern "C" VecF TRENCADIS_VECTOR_EXPF(VecF x);

inline VecF Load(const float* p) { return *reinterpret_cast<const VecFUnaligned*>(p); }
inline void Store(float* p, VecF v) { *reinterpret_cast<VecFUnaligned*>(p) = v; }

inline VecF Widen(VecH bits) { return (VecF)(__builtin_convertvector(bits, VecU) << 16); }
inline VecF Load(const uint16_t* p) { return Widen(*reinterpret_cast<const VecHUnaligned*>(p)); }

inline void Store(uint16_t* p, VecF v) {
  const VecU bits = (VecU)v;
  const VecU rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const VecU nan = (bits >> 16) | 0x40u;
  const VecU result = (bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded;
  *reinterpret_cast<VecHUnaligned*>(p) = __builtin_convertvector(result, VecH);
}

inline float Widen(float x) { return x; }
inline float Widen(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float x;
  __builtin_memcpy(&x, &wide, sizeof(x));
  return x;
}

// x[0, n), n < kLanes, in a vector padded with `pad`.
template <typename T>
VecF LoadTail(const T* x, int64_t n, float pad) {
  VecF v = VecF{} + pad;
  for (int64_t i = 0; i < n; ++i) v[i] = Widen(x[i]);
  return v;
}

// Both vectors hold kLanes / kGroup groups of kGroup lanes. Adds the halves of each group; the
// result holds, in turn, a group of `a` and one of `b`, of half the size.
template <int kGroup>
inline VecF AddHalves(VecF a, VecF b) {
  VecI first, second;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int half = lane / (kGroup / 2);
    first[lane] = half % 2 * kLanes + half / 2 * kGroup + lane % (kGroup / 2);
    second[lane] = first[lane] + kGroup / 2;
  }
  return __builtin_shuffle(a, b, first) + __builtin_shuffle(a, b, second);
}

// Lane i * kLanes / kCount of the result, i < kCount <= kLanes, is the sum of the lanes of v[i].
// Every sum adds in the same order whatever kCount, a power of two. v is overwritten.
template <int kCount, int kGroup = kLanes>
inline VecF SumEach(VecF* v) {
  if constexpr (kGroup == 1) {
    return v[0];
  } else if constexpr (kCount == 1) {
    v[0] = AddHalves<kGroup>(v[0], v[0]);
    return SumEach<1, kGroup / 2>(v);
  } else {
    for (int i = 0; i < kCount / 2; ++i) v[i] = AddHalves<kGroup>(v[i], v[i + kCount / 2]);
    return SumEach<kCount / 2, kGroup / 2>(v);
  }
}

inline float SumLanes(VecF v) { return SumEach<1>(&v)[0]; }

// The operands of one step of a dot product: kStep elements of each.
template <typename T>
struct Dot {
  static constexpr int kStep = kLanes;
  using Operand = VecF;
  static Operand Read(const T* p) { return Load(p); }
  static VecF Add(VecF sum, Operand a, Operand b) { return sum + a * b; }
};

#ifdef __AVX512BF16__
template <>
struct Dot<uint16_t> {
  static constexpr int kStep = 2 * kLanes;
  using Operand = __m512bh;
  static Operand Read(const uint16_t* p) { return (__m512bh)_mm512_loadu_si512(p); }
  static VecF Add(VecF sum, Operand a, Operand b) {
    return (VecF)_mm512_dpbf16_ps((__m512)sum, a, b);
  }
};
#endif

// A block of kRows x kColumns dot products, each in one accumulator whatever the block's size.
// It asks for the next kColumns rows of w: the hardware does not see over a page's end and alone
// reaches half of the memory's speed. (Asking once per row block is faster than asking once.)
template <typename T, int kRows, int kColumns>
void DotBlock(const T* x, int64_t ldx, const T* w, int64_t ldw, float* y, int64_t ldy, int64_t k) {
  using D = Dot<T>;
  VecF sums[kRows][kColumns] = {};
  int64_t i = 0;
  for (; i + D::kStep <= k; i += D::kStep) {
    typename D::Operand xs[kRows];
    for (int m = 0; m < kRows; ++m) xs[m] = D::Read(x + m * ldx + i);
#pragma GCC unroll 8
    for (int n = 0; n < kColumns; ++n) {
      const typename D::Operand wn = D::Read(w + n * ldw + i);
      __builtin_prefetch(w + (n + kColumns) * ldw + i, 0, 2);
#pragma GCC unroll 4
      for (int m = 0; m < kRows; ++m) sums[m][n] = D::Add(sums[m][n], xs[m], wn);
    }
  }
  for (int m = 0; m < kRows; ++m) {
    const VecF row = SumEach<kColumns>(sums[m]);
    for (int n = 0; n < kColumns; ++n) {
      float sum = row[n * kLanes / kColumns];
      for (int64_t j = i; j < k; ++j) sum += Widen(x[m * ldx + j]) * Widen(w[n * ldw + j]);
      y[m * ldy + n] = sum;
    }
  }
}

// All rows against kColumns columns, so that those rows of w are read from memory once.
template <typename T, int kColumns>
void DotColumns(const T* x, int64_t ldx, const T* w, int64_t ldw, float* y, int64_t ldy,
                int64_t rows, int64_t k) {
  constexpr int kBlockRows = kLanes == 16 ? 4 : 2;
  int64_t m = 0;
  for (; m + kBlockRows <= rows; m += kBlockRows) {
    DotBlock<T, kBlockRows, kColumns>(x + m * ldx, ldx, w, ldw, y + m * ldy, ldy, k);
  }
  for (; m < rows; ++m) DotBlock<T, 1, kColumns>(x + m * ldx, ldx, w, ldw, y + m * ldy, ldy, k);
}

template <typename T>
void RowProducts(const T* x, int64_t ldx, const T* w, int64_t ldw, float* y, int64_t ldy,
                 int64_t rows, int64_t columns, int64_t k) {
  constexpr int kBlockColumns = 4;
  int64_t n = 0;
  for (; n + kBlockColumns <= columns; n += kBlockColumns) {
    DotColumns<T, kBlockColumns>(x, ldx, w + n * ldw, ldw, y + n, ldy, rows, k);
  }
  for (; n < columns; ++n) DotColumns<T, 1>(x, ldx, w + n * ldw, ldw, y + n, ldy, rows, k);
}

float MaxF32(const float* x, int64_t n) {
  const float lowest = -__builtin_inff();
  VecF largest = VecF{} + lowest;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VecF v = Load(x + i);
    largest = v > largest ? v : largest;
  }
  const VecF tail = LoadTail(x + i, n - i, lowest);
  largest = tail > largest ? tail : largest;
  float result = lowest;
  for (int lane = 0; lane < kLanes; ++lane)
    result = largest[lane] > result ? largest[lane] : result;
  return result;
}

// Adds up term(i, vector of x[i...]) over x, with tails padded so that they add 0.
template <typename Term>
double BlockwiseSum(int64_t n, const float* x, float pad, Term term) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = n - begin < kSumBlock ? n : begin + kSumBlock;
    VecF sum = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) sum += term(i, Load(x + i), kLanes);
    if (i < end) sum += term(i, LoadTail(x + i, end - i, pad), end - i);
    total += SumLanes(sum);
  }
  return total;
}

double SumF32(const float* x, int64_t n) {
  return BlockwiseSum(n, x, 0.0f, [](int64_t, VecF v, int64_t) { return v; });
}

double ExpSumF32(float* x, int64_t n, float shift, bool store) {
  return BlockwiseSum(n, x, -__builtin_inff(), [=](int64_t i, VecF v, int64_t count) {
    const VecF e = TRENCADIS_VECTOR_EXPF(v - shift);
    if (store && count == kLanes) Store(x + i, e);
    if (store && count < kLanes) {
      for (int64_t j = 0; j < count; ++j) x[i + j] = e[j];
    }
    return e;
  });
}

template <typename T>
void Affine(const float* x, int64_t n, float scale, float bias, T* y) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(y + i, Load(x + i) * scale + bias);
  if (i == n) return;
  T tail[kLanes];
  Store(tail, LoadTail(x + i, n - i, 0.0f) * scale + bias);
  for (int64_t j = 0; i + j < n; ++j) y[i + j] = tail[j];
}

void WidenBF16(const uint16_t* x, int64_t n, float* y) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(y + i, Load(x + i));
  for (; i < n; ++i) y[i] = Widen(x[i]);
}

constexpr trencadis::kernels::VectorKernels kKernels = {
    RowProducts<float>, RowProducts<uint16_t>, MaxF32,           SumF32,
    ExpSumF32,          Affine<float>,         Affine<uint16_t>, WidenBF16};

}  // namespace

#endif  // TRENCADIS_RUNTIME_KERNELS_VECTOR_KERNELS_IMPL_H_
