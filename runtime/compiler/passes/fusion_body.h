// Building the body of a fusion node from nodes of a graph. Pure functions; thread-safe.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_BODY_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_BODY_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

struct FusionBody {
  ir::Graph graph;
  std::vector<ir::Value> operands;  // what the body's inputs stand for, in the source graph
};

// The body that computes `outputs`: every node for which `is_inside` holds is part of it, and what
// those read beside each other is an input. Nodes and inputs come in an order that follows from the
// structure alone, so that equal computations give equal bodies.
absl::StatusOr<FusionBody> BuildFusionBody(const ir::Graph& source,
                                           absl::Span<const ir::Value> outputs,
                                           absl::FunctionRef<bool(int32_t node)> is_inside);

// The body that is node `id` alone, with one input for each of its operands.
absl::StatusOr<ir::Graph> SingleNodeBody(const ir::Graph& source, int32_t id);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_BODY_H_
