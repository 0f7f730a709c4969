#include "runtime/compiler/passes/algebra.h"

#include <cmath>
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

struct Site {
  Rewriter& rewriter;
  const ir::Node& node;
  std::vector<ir::Value> operands;

  const ir::Node& producer(int i) const { return rewriter.graph().node(operands[i].node); }
  DType dtype(ir::Value value) const { return rewriter.graph().type(value).dtype; }
  std::optional<double> splat(int i) const { return SplatValue(rewriter.graph(), operands[i]); }
  bool is_float() const { return IsFloat(node.results[0].dtype); }

  Rewritten Emit(const ir::OpDef* op, std::vector<ir::Value> on) const {
    TRENCADIS_ASSIGN_OR_RETURN(const ir::Value value,
                               rewriter.Add1(op, std::move(on), {}, node.label));
    return value;
  }
};

bool IsNegativeZero(double x) { return x == 0 && std::signbit(x); }

Rewritten RewriteAdd(const Site& site) {
  if (const auto c = site.splat(1)) {
    if (site.is_float() ? IsNegativeZero(*c) : *c == 0) return site.operands[0];
  }
  // x + -y = x - y, and -x + y = y - x, in IEEE arithmetic.
  if (site.producer(1).op == Ops().neg) {
    return site.Emit(Ops().sub, {site.operands[0], site.producer(1).operands[0]});
  }
  if (site.producer(0).op == Ops().neg) {
    return site.Emit(Ops().sub, {site.operands[1], site.producer(0).operands[0]});
  }
  return std::nullopt;
}

Rewritten RewriteSub(const Site& site) {
  if (const auto c = site.splat(1)) {
    if (*c == 0 && !(site.is_float() && IsNegativeZero(*c))) return site.operands[0];
  }
  if (site.producer(1).op == Ops().neg) {
    return site.Emit(Ops().add, {site.operands[0], site.producer(1).operands[0]});
  }
  return std::nullopt;
}

Rewritten RewriteMul(const Site& site) {
  const auto c = site.splat(1);
  if (c == 1.0) return site.operands[0];
  if (!site.is_float() && c == 0.0) return site.operands[1];
  if (site.producer(0).op == Ops().neg && site.producer(1).op == Ops().neg) {
    return site.Emit(Ops().mul, {site.producer(0).operands[0], site.producer(1).operands[0]});
  }
  return std::nullopt;
}

// Division by a power of two is multiplication by its reciprocal, also a normal float.
Rewritten RewriteDiv(const Site& site) {
  const auto c = site.splat(1);
  if (!c.has_value()) return std::nullopt;
  if (*c == 1.0) return site.operands[0];
  int exponent = 0;
  if (!site.is_float() || std::abs(std::frexp(*c, &exponent)) != 0.5 || std::abs(exponent) > 64) {
    return std::nullopt;
  }
  auto reciprocal = std::make_shared<Literal>(TensorType{site.node.results[0].dtype, Shape{}});
  reciprocal->SetDouble(0, 1.0 / *c);
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value scalar,
      site.rewriter.Add1(Ops().constant, {}, {{"value", ir::LiteralPtr(std::move(reciprocal))}},
                         site.node.label));
  const Shape& shape = site.node.results[0].shape;
  if (shape.rank() == 0) return site.Emit(Ops().mul, {site.operands[0], scalar});
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value factor,
      site.rewriter.Add1(Ops().broadcast, {scalar},
                         {{"shape", shape.dims()}, {"axes", std::vector<int64_t>{}}},
                         site.node.label));
  return site.Emit(Ops().mul, {site.operands[0], factor});
}

// convert(convert(x)) goes straight to the last type where the middle one holds all of x's values.
Rewritten RewriteConvert(const Site& site) {
  const DType to = site.node.results[0].dtype;
  if (site.dtype(site.operands[0]) == to) return site.operands[0];
  const ir::Node& producer = site.producer(0);
  if (producer.op != Ops().convert) return std::nullopt;
  const ir::Value source = producer.operands[0];
  if (!ConvertsExactly(site.dtype(source), site.dtype(site.operands[0]))) return std::nullopt;
  if (site.dtype(source) == to) return source;
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value value,
      site.rewriter.Add1(Ops().convert, {source}, {{"dtype", to}}, site.node.label));
  return value;
}

Rewritten RewriteSelect(const Site& site) {
  if (site.operands[1] == site.operands[2]) return site.operands[1];
  if (const auto c = site.splat(0)) return site.operands[*c != 0 ? 1 : 2];
  return std::nullopt;
}

// not(not x), -(-x); |-x| and ||x|| are |x|.
Rewritten RewriteUnary(const Site& site) {
  const ir::OpDef* op = site.node.op;
  const ir::Node& producer = site.producer(0);
  if (op == Ops().abs) {
    if (producer.op == Ops().abs) return site.operands[0];
    if (producer.op == Ops().neg) return site.Emit(op, {producer.operands[0]});
    return std::nullopt;
  }
  if (producer.op == op) return producer.operands[0];
  return std::nullopt;
}

Rewritten Rewrite(Rewriter& rewriter, int32_t id) {
  const Site site{rewriter, rewriter.source().node(id), rewriter.MapOperands(id)};
  const ir::OpDef* op = site.node.op;
  if (op == Ops().add) return RewriteAdd(site);
  if (op == Ops().sub) return RewriteSub(site);
  if (op == Ops().mul) return RewriteMul(site);
  if (op == Ops().div) return RewriteDiv(site);
  if (op == Ops().convert) return RewriteConvert(site);
  if (op == Ops().select) return RewriteSelect(site);
  if (op == Ops().neg || op == Ops().abs || op == Ops().logical_not) return RewriteUnary(site);
  const bool idempotent =
      op == Ops().max || op == Ops().min || op == Ops().logical_and || op == Ops().logical_or;
  if (idempotent && site.operands[0] == site.operands[1]) return site.operands[0];
  return std::nullopt;
}

}  // namespace

absl::StatusOr<bool> Algebra::Run(ir::Graph& graph) { return RewriteNodes(graph, Rewrite); }

}  // namespace trencadis::compiler
