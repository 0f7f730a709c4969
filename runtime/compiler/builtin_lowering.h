// How indexing ops become calls of precompiled kernels (runtime/kernels/builtins.h).
#ifndef TRENCADIS_RUNTIME_COMPILER_BUILTIN_LOWERING_H_
#define TRENCADIS_RUNTIME_COMPILER_BUILTIN_LOWERING_H_

#include "absl/status/statusor.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::compiler {

// The call that computes indexing node `node`; its operands are the node's. Unimplemented for an op
// that has no kernel.
absl::StatusOr<recipe::BuiltinStep> LowerBuiltin(const ir::Graph& graph, const ir::Node& node);

// A plain copy of a tensor of `type`.
recipe::BuiltinStep CopyOf(const TensorType& type);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_BUILTIN_LOWERING_H_
