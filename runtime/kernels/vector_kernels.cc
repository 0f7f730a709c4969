#include "runtime/kernels/vector_kernels.h"

#include <string.h>

namespace trencadis::kernels {

const VectorKernels& VectorKernelsFor(const char* level, bool avx512bf16) {
  if (strcmp(level, "x86-64-v4") == 0) {
    return avx512bf16 ? kVectorKernelsV4BF16 : kVectorKernelsV4;
  }
  return strcmp(level, "x86-64-v3") == 0 ? kVectorKernelsV3 : kVectorKernelsV2;
}

const VectorKernels& HostVectorKernels() {
  if (__builtin_cpu_supports("x86-64-v4")) {
    return VectorKernelsFor("x86-64-v4", __builtin_cpu_supports("avx512bf16"));
  }
  return VectorKernelsFor(__builtin_cpu_supports("x86-64-v3") ? "x86-64-v3" : "x86-64-v2", false);
}

}  // namespace trencadis::kernels
