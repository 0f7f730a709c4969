#include "runtime/kernels/vector_kernels_impl.h"

namespace trencadis::kernels {

const VectorKernels kVectorKernelsV4 = kKernels;

}  // namespace trencadis::kernels
