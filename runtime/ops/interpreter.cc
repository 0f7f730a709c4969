#include "runtime/ops/interpreter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::ops {
namespace {

using Literals = std::vector<Literal>;

absl::Status CheckArguments(const ir::Graph& graph, absl::Span<const Literal> arguments) {
  if (arguments.size() != static_cast<size_t>(graph.num_inputs())) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", arguments.size(), " arguments; wanted ", graph.num_inputs()));
  }
  for (int i = 0; i < graph.num_inputs(); ++i) {
    if (arguments[i].type() == graph.type(graph.input(i))) continue;
    return absl::InvalidArgumentError(absl::StrCat("argument ", i, " is ",
                                                   arguments[i].type().ToString(), "; wanted ",
                                                   graph.type(graph.input(i)).ToString()));
  }
  return absl::OkStatus();
}

// For each node the last one that reads it; values are dropped after it.
std::vector<int32_t> LastUses(const ir::Graph& graph) {
  std::vector<int32_t> last_use(graph.num_nodes());
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    last_use[id] = id;
    for (ir::Value operand : graph.node(id).operands) last_use[operand.node] = id;
  }
  for (ir::Value output : graph.outputs()) last_use[output.node] = graph.num_nodes();
  return last_use;
}

}  // namespace

absl::StatusOr<Literals> Interpret(const ir::Graph& graph, absl::Span<const Literal> arguments) {
  TRENCADIS_RETURN_IF_ERROR(CheckArguments(graph, arguments));
  const std::vector<int32_t> last_use = LastUses(graph);
  std::vector<Literals> values(graph.num_nodes());
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    const ir::Node& node = graph.node(id);
    if (id < graph.num_inputs()) {
      values[id] = {arguments[id]};
      continue;
    }
    Literals operands;
    for (ir::Value operand : node.operands)
      operands.push_back(values[operand.node][operand.output]);
    for (ir::Value operand : node.operands) {
      if (last_use[operand.node] == id) values[operand.node].clear();
    }
    absl::StatusOr<Literals> results = node.op->reference(operands, node.attributes, node.results);
    if (!results.ok()) {
      return Annotate(results.status(), absl::StrCat("%", id, " = ", node.op->name));
    }
    values[id] = *std::move(results);
  }
  Literals outputs;
  for (ir::Value output : graph.outputs()) outputs.push_back(values[output.node][output.output]);
  return outputs;
}

}  // namespace trencadis::ops
