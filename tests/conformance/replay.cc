#include "tests/conformance/replay.h"

#include <utility>

#include "runtime/base/status.h"
#include "runtime/lazy/testing.h"

namespace trencadis::conformance {

using lazy::Tensor;

std::vector<Tensor> Replay(lazy::Context& context, const ir::Graph& graph,
                           std::vector<Tensor> arguments) {
  std::vector<int32_t> last_use(graph.num_nodes());
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    for (ir::Value operand : graph.node(id).operands) last_use[operand.node] = id;
  }
  for (ir::Value output : graph.outputs()) last_use[output.node] = graph.num_nodes();
  std::vector<std::vector<Tensor>> values(graph.num_nodes());
  for (size_t i = 0; i < arguments.size(); ++i) values[i] = {std::move(arguments[i])};
  for (int32_t id = graph.num_inputs(); id < graph.num_nodes(); ++id) {
    const ir::Node& node = graph.node(id);
    std::vector<Tensor> operands;
    for (ir::Value operand : node.operands) {
      operands.push_back(values[operand.node][operand.output]);
    }
    for (ir::Value operand : node.operands) {
      if (last_use[operand.node] == id) values[operand.node].clear();
    }
    values[id] = context.Record(*node.op, operands, node.attributes);
  }
  std::vector<Tensor> outputs;
  for (ir::Value output : graph.outputs()) outputs.push_back(values[output.node][output.output]);
  return outputs;
}

std::vector<Tensor> ToDevice(lazy::Context& context, absl::Span<const Literal> literals) {
  std::vector<Tensor> tensors;
  for (const Literal& literal : literals) tensors.push_back(Tensor::FromHost(context, literal));
  return tensors;
}

absl::StatusOr<std::vector<Literal>> ToHost(absl::Span<const Tensor> tensors) {
  std::vector<Literal> literals;
  for (const Tensor& tensor : tensors) {
    TRENCADIS_ASSIGN_OR_RETURN(Literal literal, tensor.ToHost());
    literals.push_back(std::move(literal));
  }
  return literals;
}

absl::StatusOr<std::vector<Literal>> RunReplayed(const ir::Graph& graph,
                                                 absl::Span<const Literal> arguments,
                                                 const lazy::ContextOptions& options) {
  lazy::TestMachine machine(options, {.poison_workspace = true});
  return ToHost(Replay(machine.context, graph, ToDevice(machine.context, arguments)));
}

}  // namespace trencadis::conformance
