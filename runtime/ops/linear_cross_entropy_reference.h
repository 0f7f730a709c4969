// Reference implementation of linear_cross_entropy. The rules: linear_cross_entropy.cc.
#ifndef TRENCADIS_RUNTIME_OPS_LINEAR_CROSS_ENTROPY_REFERENCE_H_
#define TRENCADIS_RUNTIME_OPS_LINEAR_CROSS_ENTROPY_REFERENCE_H_

#include "runtime/ops/reference.h"

namespace trencadis::ops {

// Of both ops: computes the derivatives that `results` has.
absl::StatusOr<Literals> LinearCrossEntropyReference(LiteralSpan operands,
                                                     const ir::Attributes& attributes,
                                                     const ir::TypeList& results);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_LINEAR_CROSS_ENTROPY_REFERENCE_H_
