#include "runtime/compiler/rewriter.h"

#include <utility>

#include "runtime/base/status.h"

namespace trencadis::compiler {

Rewriter::Rewriter(const ir::Graph& source) : source_(source) {
  map_.resize(source.num_nodes());
  for (int32_t id = 0; id < source.num_nodes(); ++id) {
    map_[id].resize(source.node(id).results.size());
  }
  for (int32_t i = 0; i < source.num_inputs(); ++i) {
    map_[i][0] = graph_.AddInput(source.type(source.input(i)));
  }
}

std::vector<ir::Value> Rewriter::MapOperands(int32_t node) const {
  std::vector<ir::Value> operands;
  operands.reserve(source_.node(node).operands.size());
  for (ir::Value operand : source_.node(node).operands) operands.push_back(Map(operand));
  return operands;
}

absl::StatusOr<int32_t> Rewriter::Add(const ir::OpDef* op, std::vector<ir::Value> operands,
                                      ir::Attributes attributes, std::string label) {
  return graph_.AddNode(op, std::move(operands), std::move(attributes), std::move(label));
}

absl::StatusOr<ir::Value> Rewriter::Add1(const ir::OpDef* op, std::vector<ir::Value> operands,
                                         ir::Attributes attributes, std::string label) {
  TRENCADIS_ASSIGN_OR_RETURN(const int32_t node,
                             Add(op, std::move(operands), std::move(attributes), std::move(label)));
  return ir::Value{node, 0};
}

absl::Status Rewriter::Copy(int32_t node) {
  const ir::Node& old = source_.node(node);
  TRENCADIS_ASSIGN_OR_RETURN(const int32_t copy,
                             Add(old.op, MapOperands(node), old.attributes, old.label));
  for (size_t i = 0; i < map_[node].size(); ++i) map_[node][i] = {copy, static_cast<int32_t>(i)};
  return absl::OkStatus();
}

ir::Graph Rewriter::Finish() {
  std::vector<ir::Value> outputs;
  for (ir::Value output : source_.outputs()) outputs.push_back(Map(output));
  graph_.SetOutputs(std::move(outputs));
  return std::move(graph_);
}

absl::StatusOr<bool> RewriteNodes(ir::Graph& graph, RewriteRule rule) {
  Rewriter rewriter(graph);
  bool changed = false;
  for (int32_t id = graph.num_inputs(); id < graph.num_nodes(); ++id) {
    std::optional<ir::Value> replacement;
    if (graph.node(id).results.size() == 1) {
      TRENCADIS_ASSIGN_OR_RETURN(replacement, rule(rewriter, id));
    }
    if (replacement.has_value()) {
      rewriter.Replace({id, 0}, *replacement);
      changed = true;
    } else {
      TRENCADIS_RETURN_IF_ERROR(rewriter.Copy(id));
    }
  }
  if (changed) graph = rewriter.Finish();
  return changed;
}

}  // namespace trencadis::compiler
