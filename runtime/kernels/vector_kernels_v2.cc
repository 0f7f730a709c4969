#include "runtime/kernels/vector_kernels_impl.h"

namespace trencadis::kernels {

const VectorKernels kVectorKernelsV2 = kKernels;

}  // namespace trencadis::kernels
