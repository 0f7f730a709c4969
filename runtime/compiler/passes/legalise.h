// Legalisation: rewrites the few nodes that no step can do as they stand. No pass of the pipeline,
// because it cannot be left out. Pure function; thread-safe.
//
//  - A product of f32 operands with a bf16 result becomes an f32 product and a conversion: the same
//    numbers, since an f32 result is the unrounded one.
//  - A product whose inner dimension is 0 becomes zeros.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_LEGALISE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_LEGALISE_H_

#include "absl/status/statusor.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

// True iff it changed `graph`. Values stay the same bit for bit.
absl::StatusOr<bool> Legalise(ir::Graph& graph);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_LEGALISE_H_
