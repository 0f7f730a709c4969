#include "runtime/compiler/passes/constant_folding.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"
#include "runtime/compiler/rewriter.h"

namespace trencadis::compiler {
namespace {

// A transcendental function of the host's C library may differ in its last bit from the vector one
// that the generated code calls: only ops that round one exact result are folded.
bool IsExact(const ir::Node& node) {
  switch (ClassOf(node)) {
    case ir::OpClass::kElementwise:
      return node.op->traits.cheap_to_recompute;
    case ir::OpClass::kView:
    case ir::OpClass::kIndexing:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<std::optional<ir::Value>> Fold(Rewriter& rewriter, int32_t id) {
  const ir::Node& node = rewriter.source().node(id);
  if (node.operands.empty() || node.op->reference == nullptr || !IsExact(node)) {
    return std::nullopt;
  }
  if (node.results[0].shape.num_elements() > kMaxFoldedElements) return std::nullopt;
  std::vector<Literal> operands;
  for (ir::Value operand : rewriter.MapOperands(id)) {
    const ir::Node& producer = rewriter.graph().node(operand.node);
    if (producer.op != Ops().constant) return std::nullopt;
    // A view of equal elements costs nothing where it is read.
    const bool is_view = ClassOf(node) == ir::OpClass::kView;
    if (is_view && SplatValue(rewriter.graph(), operand).has_value()) return std::nullopt;
    operands.push_back(*producer.attributes.Get<ir::LiteralPtr>("value"));
  }
  // An index out of range is the program's error to report when it runs, not the compiler's.
  absl::StatusOr<std::vector<Literal>> results =
      node.op->reference(operands, node.attributes, node.results);
  if (!results.ok()) return std::nullopt;
  auto literal = std::make_shared<const Literal>(std::move((*results)[0]));
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value value,
      rewriter.Add1(Ops().constant, {}, {{"value", ir::LiteralPtr(literal)}}, node.label));
  return value;
}

}  // namespace

absl::StatusOr<bool> ConstantFolding::Run(ir::Graph& graph) { return RewriteNodes(graph, Fold); }

}  // namespace trencadis::compiler
