#include "runtime/ir/verifier.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace trencadis::ir {
namespace {

absl::Status VerifyAtDepth(const Graph& graph, int depth);

absl::Status CheckValue(const Graph& graph, Value value, int32_t before) {
  if (value.node >= 0 && value.node < before && value.output >= 0 &&
      value.output < static_cast<int64_t>(graph.node(value.node).results.size())) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("reads %", value.node, ".", value.output,
                                          "; wanted a result of a node before %", before));
}

std::string JoinTypes(const TypeList& types) {
  return absl::StrJoin(types, ", ", [](std::string* out, const TensorType& type) {
    absl::StrAppend(out, type.ToString());
  });
}

absl::Status VerifyInput(const Graph& graph, int32_t id) {
  const Node& node = graph.node(id);
  if (id >= graph.num_inputs()) return absl::InternalError("an input after other nodes");
  if (!node.operands.empty() || !node.attributes.entries().empty() || node.results.size() != 1) {
    return absl::InternalError("an input has operands, attributes or several results");
  }
  return CheckTensorType(node.results[0]);
}

absl::Status VerifyNode(const Graph& graph, int32_t id, int depth) {
  const Node& node = graph.node(id);
  if (node.op->traits.op_class == OpClass::kInput) return VerifyInput(graph, id);
  if (id < graph.num_inputs()) return absl::InternalError("stands among the inputs");
  TypeList operands;
  for (Value value : node.operands) {
    TRENCADIS_RETURN_IF_ERROR(CheckValue(graph, value, id));
    operands.push_back(graph.type(value));
  }
  for (const auto& [name, attribute] : node.attributes.entries()) {
    const GraphPtr* body = std::get_if<GraphPtr>(&attribute);
    if (body == nullptr || *body == nullptr) continue;
    TRENCADIS_RETURN_IF_ERROR(Annotate(VerifyAtDepth(**body, depth + 1), name));
  }
  TRENCADIS_ASSIGN_OR_RETURN(const TypeList results,
                             InferTypes(*node.op, operands, node.attributes));
  if (results == node.results) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("has results (", JoinTypes(node.results),
                                          "); its op infers (", JoinTypes(results), ")"));
}

absl::Status VerifyAtDepth(const Graph& graph, int depth) {
  if (depth > kMaxGraphDepth) {
    return absl::InternalError(
        absl::StrCat("graphs lie more than ", kMaxGraphDepth, " deep in one another"));
  }
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    if (graph.node(id).op == nullptr)
      return absl::InternalError(absl::StrCat("%", id, " has no op"));
    TRENCADIS_RETURN_IF_ERROR(Annotate(VerifyNode(graph, id, depth),
                                       absl::StrCat("%", id, " (", graph.node(id).op->name, ")")));
  }
  for (Value output : graph.outputs()) {
    TRENCADIS_RETURN_IF_ERROR(Annotate(CheckValue(graph, output, graph.num_nodes()), "output"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyGraph(const Graph& graph) { return VerifyAtDepth(graph, 0); }

}  // namespace trencadis::ir
