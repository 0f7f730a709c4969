#include "runtime/ir/graph.h"

#include "absl/strings/str_cat.h"

namespace trencadis::ir {
namespace {

// Nodes of this op are made by Graph::AddInput only, which says their type.
absl::StatusOr<TypeList> InferInput(absl::Span<const TensorType>, const Attributes&) {
  return absl::InvalidArgumentError("an input's type is given, not inferred; wanted AddInput");
}

constexpr OpDef kInputOp = {
    .name = "input",
    .traits = {.op_class = OpClass::kInput},
    .infer = InferInput,
};

bool EqualNodes(const Node& a, const Node& b) {
  return a.op == b.op && a.operands == b.operands && a.results == b.results &&
         a.attributes == b.attributes;
}

}  // namespace

const OpDef* InputOp() { return &kInputOp; }

Value Graph::AddInput(TensorType type, std::string label) {
  TRENCADIS_CHECK(num_inputs_ == num_nodes());
  Node node;
  node.op = InputOp();
  node.results.push_back(std::move(type));
  node.label = std::move(label);
  nodes_.push_back(std::move(node));
  return {num_inputs_++, 0};
}

absl::StatusOr<int32_t> Graph::AddNode(const OpDef* op, std::vector<Value> operands,
                                       Attributes attributes, std::string label) {
  TypeList types;
  types.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const Value value = operands[i];
    if (value.node < 0 || value.node >= num_nodes() || value.output < 0 ||
        value.output >= static_cast<int64_t>(nodes_[value.node].results.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(op->name, ": operand ", i, " is result ", value.output, " of node ",
                       value.node, "; wanted a result of one of the ", num_nodes(), " nodes"));
    }
    types.push_back(type(value));
  }
  TRENCADIS_ASSIGN_OR_RETURN(TypeList results, InferTypes(*op, types, attributes));
  nodes_.push_back(
      {op, std::move(operands), std::move(attributes), std::move(results), std::move(label)});
  return num_nodes() - 1;
}

bool Graph::operator==(const Graph& other) const {
  if (num_inputs_ != other.num_inputs_ || outputs_ != other.outputs_ ||
      nodes_.size() != other.nodes_.size()) {
    return false;
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!EqualNodes(nodes_[i], other.nodes_[i])) return false;
  }
  return true;
}

}  // namespace trencadis::ir
