#include "runtime/compiler/passes/fusion_body.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "runtime/base/status.h"

namespace trencadis::compiler {
namespace {

// The nodes inside that `outputs` need, operands first, and the values from outside.
struct Closure {
  std::vector<int32_t> nodes;
  std::vector<ir::Value> operands;
};

Closure CloseOver(const ir::Graph& source, absl::Span<const ir::Value> outputs,
                  absl::FunctionRef<bool(int32_t)> is_inside) {
  Closure closure;
  absl::flat_hash_set<int32_t> done;
  absl::flat_hash_set<ir::Value> seen_outside;
  struct Frame {
    int32_t node;
    size_t next_operand;
  };
  std::vector<Frame> stack;  // depth first, without recursion: chains may be long
  const auto enter = [&](ir::Value value) {
    if (is_inside(value.node)) {
      if (done.insert(value.node).second) stack.push_back({value.node, 0});
    } else if (seen_outside.insert(value).second) {
      closure.operands.push_back(value);
    }
  };
  for (ir::Value output : outputs) {
    enter(output);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const auto& operands = source.node(frame.node).operands;
      if (frame.next_operand < operands.size()) {
        enter(operands[frame.next_operand++]);
      } else {
        closure.nodes.push_back(frame.node);
        stack.pop_back();
      }
    }
  }
  return closure;
}

}  // namespace

absl::StatusOr<FusionBody> BuildFusionBody(const ir::Graph& source,
                                           absl::Span<const ir::Value> outputs,
                                           absl::FunctionRef<bool(int32_t)> is_inside) {
  Closure closure = CloseOver(source, outputs, is_inside);
  FusionBody body;
  absl::flat_hash_map<ir::Value, ir::Value> inner;
  for (ir::Value operand : closure.operands) {
    inner[operand] = body.graph.AddInput(source.type(operand));
  }
  for (int32_t id : closure.nodes) {
    const ir::Node& node = source.node(id);
    std::vector<ir::Value> operands;
    for (ir::Value operand : node.operands) operands.push_back(inner.at(operand));
    TRENCADIS_ASSIGN_OR_RETURN(const int32_t copy, body.graph.AddNode(node.op, std::move(operands),
                                                                      node.attributes, node.label));
    for (size_t i = 0; i < node.results.size(); ++i) {
      const auto output = static_cast<int32_t>(i);
      inner[{id, output}] = {copy, output};
    }
  }
  std::vector<ir::Value> inner_outputs;
  for (ir::Value output : outputs) inner_outputs.push_back(inner.at(output));
  body.graph.SetOutputs(std::move(inner_outputs));
  body.operands = std::move(closure.operands);
  return body;
}

absl::StatusOr<ir::Graph> SingleNodeBody(const ir::Graph& source, int32_t id) {
  const ir::Node& node = source.node(id);
  ir::Graph body;
  std::vector<ir::Value> operands;
  for (ir::Value operand : node.operands) operands.push_back(body.AddInput(source.type(operand)));
  TRENCADIS_ASSIGN_OR_RETURN(
      const int32_t copy, body.AddNode(node.op, std::move(operands), node.attributes, node.label));
  std::vector<ir::Value> outputs;
  for (size_t i = 0; i < node.results.size(); ++i) {
    outputs.push_back({copy, static_cast<int32_t>(i)});
  }
  body.SetOutputs(std::move(outputs));
  return body;
}

}  // namespace trencadis::compiler
