// VectorKernels: small loops compiled once per instruction set and chosen at run time.
//
// All functions are pure, single-threaded and re-entrant; pointers need only element alignment. An
// element's result does not depend on its position or on the other rows of a call, so callers may
// split work as they like. Sets differ from each other in the last bits.
#ifndef TRENCADIS_RUNTIME_KERNELS_VECTOR_KERNELS_H_
#define TRENCADIS_RUNTIME_KERNELS_VECTOR_KERNELS_H_

#include <stdint.h>

namespace trencadis::kernels {

// bf16 elements are passed as their bits (uint16_t).
struct VectorKernels {
  // y[m*ldy + n] = sum over k of x[m*ldx + k] * w[n*ldw + k], for m in [0, rows), n in [0,
  // columns). f32 sums; bf16 products by AVX512-BF16 where the set has it (subnormals count as 0
  // there).
  void (*row_products_f32)(const float* x, int64_t ldx, const float* w, int64_t ldw, float* y,
                           int64_t ldy, int64_t rows, int64_t columns, int64_t k);
  void (*row_products_bf16)(const uint16_t* x, int64_t ldx, const uint16_t* w, int64_t ldw,
                            float* y, int64_t ldy, int64_t rows, int64_t columns, int64_t k);
  // Largest of x[0, n); -inf when n is 0.
  float (*max_f32)(const float* x, int64_t n);
  // Sum of x[0, n), blockwise in double.
  double (*sum_f32)(const float* x, int64_t n);
  // Sum of exp(x[i] - shift), blockwise in double; with `store`, x[i] becomes that exponential.
  double (*exp_sum_f32)(float* x, int64_t n, float shift, bool store);
  // y[i] = x[i] * scale + bias, rounded to y's type. y may be x, or begin where x begins.
  void (*affine_f32)(const float* x, int64_t n, float scale, float bias, float* y);
  void (*affine_bf16)(const float* x, int64_t n, float scale, float bias, uint16_t* y);
  void (*widen_bf16)(const uint16_t* x, int64_t n, float* y);
};

// The set for an x86-64 level as codegen::Target names it ("x86-64-v2", "-v3", "-v4"), with or
// without AVX512-BF16 (which needs -v4). The host must support it.
const VectorKernels& VectorKernelsFor(const char* level, bool avx512bf16);

// The best set that this host supports.
const VectorKernels& HostVectorKernels();

// The sets; each file of the same code compiled for its level.
extern const VectorKernels kVectorKernelsV2;
extern const VectorKernels kVectorKernelsV3;
extern const VectorKernels kVectorKernelsV4;
extern const VectorKernels kVectorKernelsV4BF16;

}  // namespace trencadis::kernels

#endif  // TRENCADIS_RUNTIME_KERNELS_VECTOR_KERNELS_H_
