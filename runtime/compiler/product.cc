#include "runtime/compiler/product.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"

namespace trencadis::compiler {
namespace {

int64_t LeadingElements(const Shape& shape) {
  int64_t elements = 1;
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) elements *= shape.dim(axis);
  return elements;
}

codegen::MatMulSpec SpecOf(const TensorType& a, const TensorType& b, const ir::Node& matmul) {
  codegen::MatMulSpec spec;
  spec.transpose_a = matmul.attributes.GetOr<bool>("transpose_a", false);
  spec.transpose_b = matmul.attributes.GetOr<bool>("transpose_b", false);
  spec.m = a.shape.dim(spec.transpose_a ? -1 : -2);
  spec.k = a.shape.dim(spec.transpose_a ? -2 : -1);
  spec.n = b.shape.dim(spec.transpose_b ? -2 : -1);
  const int64_t leading = LeadingElements(a.shape);
  if (b.shape.rank() == 2) {
    spec.m *= leading;  // one b for all of a's rows
  } else {
    spec.batch = leading;
    spec.batched_b = leading > 1;
  }
  spec.a_dtype = a.dtype;
  spec.b_dtype = b.dtype;
  spec.c_dtype = matmul.results[0].dtype;
  return spec;
}

// What `node` of a body does to its operand `chained`, which is the product so far.
absl::StatusOr<codegen::PostOp> PostOpOf(const ir::Graph& body, const ir::Node& node, int chained,
                                         std::vector<int>& operands) {
  using codegen::PostOpKind;
  if (node.op == Ops().relu) return codegen::PostOp{PostOpKind::kRelu};
  const bool adds = node.op == Ops().add;
  if (!adds && node.op != Ops().mul) {
    return absl::UnimplementedError(
        absl::StrCat("a product cannot be followed by ", node.op->name));
  }
  ir::Value other = node.operands[1 - chained];
  if (const auto number = SplatValue(body, other); number.has_value() && !adds) {
    return codegen::PostOp{PostOpKind::kScale, *number};
  }
  PostOpKind kind = adds ? PostOpKind::kAdd : PostOpKind::kMul;
  const ir::Node& producer = body.node(other.node);
  if (producer.op == Ops().broadcast) {
    other = producer.operands[0];
    const bool is_scalar = body.type(other).shape.rank() == 0;
    if (adds == is_scalar) {
      return absl::UnimplementedError("a product cannot be followed by such a broadcast");
    }
    kind = is_scalar ? PostOpKind::kScaleBy : PostOpKind::kBias;
  }
  if (other.node >= body.num_inputs()) {
    return absl::UnimplementedError("an epilogue's operand is computed in the body");
  }
  operands.push_back(other.node);
  return codegen::PostOp{kind};
}

}  // namespace

bool IsProduct(const ir::Node& node) {
  if (ClassOf(node) == ir::OpClass::kContraction) return true;
  if (ClassOf(node) != ir::OpClass::kFusion) return false;
  const auto& nodes = node.attributes.Get<ir::GraphPtr>("body")->nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const ir::Node& inner) {
    return ClassOf(inner) == ir::OpClass::kContraction;
  });
}

absl::StatusOr<Product> LowerProduct(const ir::Graph& graph, const ir::Node& node) {
  if (ClassOf(node) == ir::OpClass::kContraction) {
    return Product{SpecOf(graph.type(node.operands[0]), graph.type(node.operands[1]), node),
                   {0, 1}};
  }
  const ir::Graph& body = *node.attributes.Get<ir::GraphPtr>("body");
  Product product;
  int32_t last = -1;  // the node whose result is the product so far
  for (int32_t id = body.num_inputs(); id < body.num_nodes(); ++id) {
    const ir::Node& inner = body.node(id);
    if (ClassOf(inner) == ir::OpClass::kContraction) {
      product.spec = SpecOf(body.type(inner.operands[0]), body.type(inner.operands[1]), inner);
      product.operands = {inner.operands[0].node, inner.operands[1].node};
      last = id;
      continue;
    }
    for (int i = 0; i < static_cast<int>(inner.operands.size()); ++i) {
      if (inner.operands[i].node != last) continue;
      TRENCADIS_ASSIGN_OR_RETURN(const codegen::PostOp op,
                                 PostOpOf(body, inner, i, product.operands));
      product.spec.post_ops.push_back(op);
      last = id;
      break;
    }
  }
  return product;
}

}  // namespace trencadis::compiler
