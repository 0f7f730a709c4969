#include "runtime/kernels/vector_kernels_impl.h"

namespace trencadis::kernels {

const VectorKernels kVectorKernelsV4BF16 = kKernels;

}  // namespace trencadis::kernels
