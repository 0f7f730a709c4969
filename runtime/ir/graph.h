// Graph: a computation as immutable nodes in topological order.
//
// Invariants: a node's operands are results of earlier nodes; result types are what the op infers
// from operands and attributes; inputs come first, in argument order. No storage, no devices. A
// pass builds a new Graph rather than changing nodes in place. Const access is thread-safe.
#ifndef TRENCADIS_RUNTIME_IR_GRAPH_H_
#define TRENCADIS_RUNTIME_IR_GRAPH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/ir/op_def.h"

namespace trencadis::ir {

// Result `output` of node `node`.
struct Value {
  int32_t node = -1;
  int32_t output = 0;

  bool operator==(const Value&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Value& v) {
    return H::combine(std::move(h), v.node, v.output);
  }
};

struct Node {
  const OpDef* op = nullptr;
  std::vector<Value> operands;
  Attributes attributes;
  TypeList results;
  // Where it came from ("layers.3.mlp"), for reports only: no part of the graph's identity.
  std::string label;
};

class Graph {
 public:
  // Appends an argument, whose type passes CheckTensorType. All arguments are added before any
  // other node.
  Value AddInput(TensorType type, std::string label = "");
  // Appends a node after checking operands and inferring its result types. The graph is unchanged
  // on error.
  absl::StatusOr<int32_t> AddNode(const OpDef* op, std::vector<Value> operands,
                                  Attributes attributes, std::string label = "");
  void SetOutputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }

  int32_t num_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t num_inputs() const { return num_inputs_; }
  const Node& node(int32_t id) const { return nodes_[id]; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  const TensorType& type(Value value) const { return nodes_[value.node].results[value.output]; }
  Value input(int32_t index) const { return {index, 0}; }

  // Same nodes, operands, attributes and outputs in the same order; labels do not count.
  bool operator==(const Graph& other) const;

 private:
  std::vector<Node> nodes_;
  std::vector<Value> outputs_;
  int32_t num_inputs_ = 0;
};

// The op of graph inputs ("input"); registered like any other.
const OpDef* InputOp();

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_GRAPH_H_
