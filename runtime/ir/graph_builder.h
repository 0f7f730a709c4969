// GraphBuilder: an OpBuilder that appends to a Graph. For tests and for passes that emit ops by
// name.
//
// The first error sticks: later calls return invalid handles. Used by one thread at a time.
#ifndef TRENCADIS_RUNTIME_IR_GRAPH_BUILDER_H_
#define TRENCADIS_RUNTIME_IR_GRAPH_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/ir/graph.h"
#include "runtime/ir/op_def.h"

namespace trencadis::ir {

class GraphBuilder final : public OpBuilder {
 public:
  // `graph` outlives the builder; `find_op` is ops::FindOp everywhere but in tests.
  GraphBuilder(Graph& graph, OpLookup find_op) : graph_(graph), find_op_(find_op) {}

  // A new argument of the graph; all come before any other node.
  Val Input(TensorType type);
  // The handle of a value that the graph has, and back. `value` must be valid.
  Val HandleOf(Value value);
  Value ValueOf(Val handle) const;

  std::vector<Val> Emit(absl::string_view name, absl::Span<const Val> operands,
                        Attributes attributes) override;
  TensorType TypeOf(Val value) const override;

  // Makes `outputs` the graph's outputs and returns the first error, if any.
  absl::Status Finish(absl::Span<const Val> outputs);
  // Label of the nodes emitted from now on.
  void SetLabel(std::string label) { label_ = std::move(label); }
  const absl::Status& status() const { return status_; }

 private:
  Graph& graph_;
  OpLookup find_op_;
  std::vector<Value> values_;  // by handle
  std::string label_;
  absl::Status status_;
};

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_GRAPH_BUILDER_H_
