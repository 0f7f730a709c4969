#include "runtime/compiler/passes/legalise.h"

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

using Rewritten = absl::StatusOr<std::optional<ir::Value>>;

Rewritten Zeros(Rewriter& rewriter, const TensorType& type, const std::string& label) {
  auto zero = std::make_shared<const Literal>(TensorType{type.dtype, Shape{}});
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value scalar,
      rewriter.Add1(Ops().constant, {}, {{"value", ir::LiteralPtr(std::move(zero))}}, label));
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value zeros,
      rewriter.Add1(Ops().broadcast, {scalar},
                    {{"shape", type.shape.dims()}, {"axes", std::vector<int64_t>{}}}, label));
  return zeros;
}

Rewritten Rewrite(Rewriter& rewriter, int32_t id) {
  const ir::Node& node = rewriter.source().node(id);
  if (node.op != Ops().matmul) return std::nullopt;
  const TensorType& a = rewriter.source().type(node.operands[0]);
  const bool transpose_a = node.attributes.GetOr<bool>("transpose_a", false);
  const TensorType& result = node.results[0];
  if (a.shape.dim(transpose_a ? -2 : -1) == 0 && result.shape.num_elements() > 0) {
    return Zeros(rewriter, result, node.label);
  }
  if (a.dtype != DType::kF32 || result.dtype != DType::kBF16) return std::nullopt;
  ir::Attributes attributes = node.attributes;
  attributes.Erase("dtype");
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value product,
      rewriter.Add1(node.op, rewriter.MapOperands(id), std::move(attributes), node.label));
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value rounded,
      rewriter.Add1(Ops().convert, {product}, {{"dtype", DType::kBF16}}, node.label));
  return rounded;
}

}  // namespace

absl::StatusOr<bool> Legalise(ir::Graph& graph) { return RewriteNodes(graph, Rewrite); }

}  // namespace trencadis::compiler
