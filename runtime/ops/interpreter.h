// The reference interpreter: evaluates a graph op by op with the ops' reference implementations.
// Slow; the yardstick for everything compiled. Thread-safe.
#ifndef TRENCADIS_RUNTIME_OPS_INTERPRETER_H_
#define TRENCADIS_RUNTIME_OPS_INTERPRETER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/core/literal.h"
#include "runtime/ir/graph.h"

namespace trencadis::ops {

// The outputs of `graph`, which passes ir::VerifyGraph, for `arguments` of its inputs' types.
// Errors name the node; OutOfRange for an index that no table has.
absl::StatusOr<std::vector<Literal>> Interpret(const ir::Graph& graph,
                                               absl::Span<const Literal> arguments);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_INTERPRETER_H_
