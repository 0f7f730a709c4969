#include "runtime/compiler/passes/canonicalise.h"

#include <algorithm>
#include <cstring>
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

using Ints = std::vector<int64_t>;
using Rewritten = absl::StatusOr<std::optional<ir::Value>>;

// One node on its way into the new graph: its operands are rewritten already.
struct Site {
  Rewriter& rewriter;
  const ir::Node& node;
  std::vector<ir::Value> operands;

  const ir::Node& producer(int i) const { return rewriter.graph().node(operands[i].node); }
  const Ints& dims(int i) const { return rewriter.graph().type(operands[i]).shape.dims(); }
  const Ints& result_dims() const { return node.results[0].shape.dims(); }
  const Ints& ints(absl::string_view name) const { return node.attributes.Get<Ints>(name); }

  Rewritten Emit(const ir::OpDef* op, std::vector<ir::Value> on, ir::Attributes attributes) const {
    TRENCADIS_ASSIGN_OR_RETURN(const ir::Value value,
                               rewriter.Add1(op, std::move(on), std::move(attributes), node.label));
    return value;
  }
  Rewritten Reshape(ir::Value x) const {
    if (rewriter.graph().type(x).shape == node.results[0].shape) return x;
    return Emit(Ops().reshape, {x}, {{"shape", result_dims()}});
  }
};

Rewritten RewriteReshape(const Site& site) {
  const ir::Node& producer = site.producer(0);
  if (producer.op == Ops().reshape) return site.Reshape(producer.operands[0]);
  if (site.dims(0) == site.result_dims()) return site.operands[0];
  // All elements are one: any shape is a broadcast.
  if (producer.op == Ops().broadcast && producer.operands.size() == 1 &&
      site.rewriter.graph().type(producer.operands[0]).shape.rank() == 0) {
    return site.Emit(Ops().broadcast, {producer.operands[0]},
                     {{"shape", site.result_dims()}, {"axes", Ints{}}});
  }
  return std::nullopt;
}

// True when `permutation` moves only axes of size one.
bool MovesNothing(const Ints& permutation, const Ints& dims) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (dims[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Rewritten RewriteTranspose(const Site& site) {
  const Ints& permutation = site.ints("permutation");
  if (MovesNothing(permutation, site.dims(0))) return site.Reshape(site.operands[0]);
  const ir::Node& producer = site.producer(0);
  if (producer.op != Ops().transpose) return std::nullopt;
  const Ints& inner = producer.attributes.Get<Ints>("permutation");
  Ints combined;
  for (int64_t axis : permutation) combined.push_back(inner[axis]);
  const ir::Value source = producer.operands[0];
  if (MovesNothing(combined, site.rewriter.graph().type(source).shape.dims())) {
    return site.Reshape(source);
  }
  return site.Emit(Ops().transpose, {source}, {{"permutation", combined}});
}

// If reshaping `from` to `to` only adds or drops dimensions of one: the axis of `to` for each axis
// of `from` that is not one.
std::optional<std::vector<std::pair<int, int>>> MatchUnitReshape(const Ints& from, const Ints& to) {
  std::vector<std::pair<int, int>> pairs;
  size_t j = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    while (j < to.size() && to[j] == 1) ++j;
    if (j == to.size() || to[j] != from[i]) return std::nullopt;
    pairs.emplace_back(static_cast<int>(i), static_cast<int>(j++));
  }
  while (j < to.size() && to[j] == 1) ++j;
  if (j != to.size()) return std::nullopt;
  return pairs;
}

// broadcast(reshape(x)) where the reshape only adds or drops ones, as a broadcast of x without its
// dimensions of one.
Rewritten BroadcastThroughReshape(const Site& site) {
  const ir::Node& producer = site.producer(0);
  const ir::Value source = producer.operands[0];
  const Ints& from = site.rewriter.graph().type(source).shape.dims();
  const auto pairs = MatchUnitReshape(from, site.dims(0));
  if (!pairs.has_value()) return std::nullopt;
  if (pairs->size() != from.size()) {
    // Only a rank without ones has strictly increasing axes for all; keep the reshape to that form.
    Ints squeezed;
    for (const auto& [i, j] : *pairs) squeezed.push_back(from[i]);
    if (squeezed == site.dims(0)) return std::nullopt;
    TRENCADIS_ASSIGN_OR_RETURN(
        const ir::Value reshaped,
        site.rewriter.Add1(Ops().reshape, {source}, {{"shape", squeezed}}, site.node.label));
    Ints axes;
    for (const auto& [i, j] : *pairs) axes.push_back(site.ints("axes")[j]);
    return site.Emit(Ops().broadcast, {reshaped}, {{"shape", site.result_dims()}, {"axes", axes}});
  }
  Ints axes;
  for (const auto& [i, j] : *pairs) axes.push_back(site.ints("axes")[j]);
  return site.Emit(Ops().broadcast, {source}, {{"shape", site.result_dims()}, {"axes", axes}});
}

Rewritten RewriteBroadcast(const Site& site) {
  if (site.node.results[0].shape.num_elements() ==
      site.rewriter.graph().type(site.operands[0]).shape.num_elements()) {
    return site.Reshape(site.operands[0]);
  }
  const ir::Node& producer = site.producer(0);
  const Ints& axes = site.ints("axes");
  if (producer.op == Ops().broadcast) {
    Ints combined;
    for (int64_t axis : producer.attributes.Get<Ints>("axes")) combined.push_back(axes[axis]);
    return site.Emit(Ops().broadcast, {producer.operands[0]},
                     {{"shape", site.result_dims()}, {"axes", combined}});
  }
  if (producer.op == Ops().reshape) return BroadcastThroughReshape(site);
  return std::nullopt;
}

Rewritten RewriteSlice(const Site& site) {
  const Ints& dims = site.dims(0);
  if (dims == site.result_dims()) return site.operands[0];
  const ir::Node& producer = site.producer(0);
  if (producer.op != Ops().slice) return std::nullopt;
  const Ints& starts = producer.attributes.Get<Ints>("starts");
  const Ints& limits = producer.attributes.Get<Ints>("limits");
  const Ints& strides = producer.attributes.Get<Ints>("strides");
  Ints new_starts, new_limits, new_strides;
  for (size_t i = 0; i < starts.size(); ++i) {
    new_starts.push_back(std::min(limits[i], starts[i] + site.ints("starts")[i] * strides[i]));
    new_limits.push_back(std::min(limits[i], starts[i] + site.ints("limits")[i] * strides[i]));
    new_strides.push_back(strides[i] * site.ints("strides")[i]);
  }
  return site.Emit(Ops().slice, {producer.operands[0]},
                   {{"starts", new_starts}, {"limits", new_limits}, {"strides", new_strides}});
}

Rewritten RewriteReverse(const Site& site) {
  Ints axes;
  for (int64_t axis : site.ints("axes")) {
    if (site.dims(0)[axis] > 1) axes.push_back(axis);
  }
  if (axes.empty()) return site.operands[0];
  const ir::Node& producer = site.producer(0);
  if (producer.op == Ops().reverse && producer.attributes.Get<Ints>("axes") == axes) {
    return producer.operands[0];
  }
  if (axes.size() == site.ints("axes").size()) return std::nullopt;
  return site.Emit(Ops().reverse, {site.operands[0]}, {{"axes", axes}});
}

Rewritten RewriteConstant(const Site& site) {
  const Literal& literal = *site.node.attributes.Get<ir::LiteralPtr>("value");
  if (literal.shape().rank() == 0 || literal.num_elements() == 0) return std::nullopt;
  const auto bytes = literal.bytes();
  const size_t size = ByteSize(literal.dtype());
  if (std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) != 0) return std::nullopt;
  auto scalar = std::make_shared<Literal>(TensorType{literal.dtype(), Shape{}});
  std::copy(bytes.begin(), bytes.begin() + size, scalar->bytes().begin());
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value value,
      site.rewriter.Add1(Ops().constant, {}, {{"value", ir::LiteralPtr(std::move(scalar))}},
                         site.node.label));
  if (literal.num_elements() == 1) return site.Reshape(value);
  return site.Emit(Ops().broadcast, {value}, {{"shape", site.result_dims()}, {"axes", Ints{}}});
}

Rewritten RewriteMatmul(const Site& site) {
  ir::Attributes attributes = site.node.attributes;
  for (absl::string_view flag : {"transpose_a", "transpose_b"}) {
    if (!attributes.GetOr<bool>(flag, false)) attributes.Erase(flag);
  }
  const DType operand_dtype = site.rewriter.graph().type(site.operands[0]).dtype;
  if (attributes.GetOr<DType>("dtype", operand_dtype) == operand_dtype) attributes.Erase("dtype");
  if (attributes == site.node.attributes) return std::nullopt;
  return site.Emit(site.node.op, site.operands, std::move(attributes));
}

Rewritten RewriteCommutative(const Site& site) {
  const auto is_constant = [&](int i) {
    return SplatValue(site.rewriter.graph(), site.operands[i]).has_value();
  };
  if (site.operands.size() != 2 || !is_constant(0) || is_constant(1)) return std::nullopt;
  return site.Emit(site.node.op, {site.operands[1], site.operands[0]}, site.node.attributes);
}

Rewritten Rewrite(Rewriter& rewriter, int32_t id) {
  const Site site{rewriter, rewriter.source().node(id), rewriter.MapOperands(id)};
  const ir::OpDef* op = site.node.op;
  if (op == Ops().reshape) return RewriteReshape(site);
  if (op == Ops().transpose) return RewriteTranspose(site);
  if (op == Ops().broadcast) return RewriteBroadcast(site);
  if (op == Ops().slice) return RewriteSlice(site);
  if (op == Ops().reverse) return RewriteReverse(site);
  if (op == Ops().constant) return RewriteConstant(site);
  if (op == Ops().matmul) return RewriteMatmul(site);
  if (op == Ops().concatenate && site.operands.size() == 1) return site.operands[0];
  if (op == Ops().pad && site.dims(0) == site.result_dims()) return site.operands[0];
  if (op->traits.commutative) return RewriteCommutative(site);
  return std::nullopt;
}

}  // namespace

absl::StatusOr<bool> Canonicalise::Run(ir::Graph& graph) { return RewriteNodes(graph, Rewrite); }

}  // namespace trencadis::compiler
