// The check that a graph is one: run after every pass that changed something and on every graph
// that comes from outside. Thread-safe.
#ifndef TRENCADIS_RUNTIME_IR_VERIFIER_H_
#define TRENCADIS_RUNTIME_IR_VERIFIER_H_

#include "absl/status/status.h"
#include "runtime/ir/graph.h"

namespace trencadis::ir {

// How deep fusion bodies may lie in one another.
constexpr int kMaxGraphDepth = 8;

// Inputs come first, operands before their users, result types are what the op infers, outputs
// exist, and all of it holds for fusion bodies. The error names the node.
absl::Status VerifyGraph(const Graph& graph);

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_VERIFIER_H_
