// The tables of op definitions, one per file of this folder. Only the registry reads them.
#ifndef TRENCADIS_RUNTIME_OPS_OP_TABLES_H_
#define TRENCADIS_RUNTIME_OPS_OP_TABLES_H_

#include "absl/types/span.h"
#include "runtime/ir/op_def.h"

namespace trencadis::ops {

using OpTable = absl::Span<const ir::OpDef>;

OpTable GeneratorOps();           // constant, iota
OpTable UnaryOps();               // neg ... erf, convert
OpTable ActivationOps();          // sigmoid, relu, silu, gelu, with their derivatives
OpTable BinaryOps();              // add ... min
OpTable LogicalOps();             // and, or, xor, not, comparisons, select, is_finite
OpTable RandomOps();              // philox_uniform
OpTable ViewOps();                // broadcast, reshape, transpose, slice, reverse
OpTable ReductionOps();           // reduce_sum, reduce_max, reduce_min
OpTable MatmulOps();              // matmul
OpTable IndexingOps();            // take, scatter_add, argmax, dynamic slices
OpTable ShapingOps();             // concatenate, pad
OpTable AttentionOps();           // attention, attention_grad
OpTable LinearCrossEntropyOps();  // linear_cross_entropy, with and without gradients
OpTable StructuralOps();          // barrier, fusion

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_OP_TABLES_H_
