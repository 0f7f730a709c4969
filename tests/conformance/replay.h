// Graphs as lazy programs: the ops of a graph recorded one after another, as a user's program
// would.
#ifndef TRENCADIS_TESTS_CONFORMANCE_REPLAY_H_
#define TRENCADIS_TESTS_CONFORMANCE_REPLAY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/core/literal.h"
#include "runtime/ir/graph.h"
#include "runtime/lazy/context.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::conformance {

// Records `graph` on `arguments`; handles of intermediate values are dropped after their last use.
std::vector<lazy::Tensor> Replay(lazy::Context& context, const ir::Graph& graph,
                                 std::vector<lazy::Tensor> arguments);

std::vector<lazy::Tensor> ToDevice(lazy::Context& context, absl::Span<const Literal> literals);
absl::StatusOr<std::vector<Literal>> ToHost(absl::Span<const lazy::Tensor> tensors);

// The outputs of `graph`, replayed on a device of its own whose workspace starts as NaNs.
absl::StatusOr<std::vector<Literal>> RunReplayed(const ir::Graph& graph,
                                                 absl::Span<const Literal> arguments,
                                                 const lazy::ContextOptions& options);

}  // namespace trencadis::conformance

#endif  // TRENCADIS_TESTS_CONFORMANCE_REPLAY_H_
