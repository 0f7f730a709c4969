// Composite ops against the same thing built from primitives.
#include <limits>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/ir/graph_builder.h"
#include "runtime/ops/attention_shape.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/op_case.h"
#include "runtime/ops/registry.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {
namespace {

using Ints = std::vector<int64_t>;
using ir::Val;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Formulas on one graph.
class Primitives {
 public:
  Primitives() : builder_(graph_, FindOp), math_(builder_) {}

  std::vector<Val> Inputs(const OpCase& op_case) {
    std::vector<Val> inputs;
    for (const OperandSpec& operand : op_case.operands) {
      inputs.push_back(builder_.Input(operand.type));
    }
    return inputs;
  }
  std::vector<Literal> Run(absl::Span<const Val> outputs, absl::Span<const Literal> arguments) {
    const absl::Status built = builder_.Finish(outputs);
    EXPECT_TRUE(built.ok()) << built;
    const auto results = Interpret(graph_, arguments);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? *results : std::vector<Literal>();
  }

  const VjpMath& math() const { return math_; }
  Shape ShapeOf(Val x) { return builder_.TypeOf(x).shape; }
  Val Call(absl::string_view op, std::vector<Val> operands, ir::Attributes attributes = {}) {
    return builder_.Emit1(op, operands, std::move(attributes));
  }
  Val Transpose(Val x, Ints permutation) {
    return Call("transpose", {x}, {{"permutation", std::move(permutation)}});
  }
  Val Product(Val a, Val b, bool transpose_b) {
    return Call("matmul", {a, b}, {{"transpose_b", transpose_b}});
  }
  Val Iota(Shape shape, int64_t axis) {
    return Call("iota", {}, {{"dtype", DType::kI32}, {"shape", shape.dims()}, {"axis", axis}});
  }
  // Sum or maximum over the last axis, kept and stretched back.
  Val OverRows(absl::string_view op, Val x) {
    const Shape shape = ShapeOf(x);
    Ints axes;
    for (int i = 0; i < shape.rank() - 1; ++i) axes.push_back(i);
    const Val reduced = Call(op, {x}, {{"axes", Ints{shape.rank() - 1}}});
    return math_.Broadcast(reduced, shape, std::move(axes));
  }
  // Log-sum-exp over the last axis (kept), of the scores where `seen`; -infinity where none is.
  Val LogSumExp(Val scores, Val seen) {
    const Val lowest = math_.FullLike(scores, -kInf);
    const Val highest = OverRows("reduce_max", math_.Select(seen, scores, lowest));
    const Val shift =
        math_.Select(Call("is_finite", {highest}), highest, math_.FullLike(scores, 0));
    const Val terms =
        math_.Select(seen, Call("exp", {math_.Sub(scores, shift)}), math_.FullLike(scores, 0));
    return math_.Add(Call("log", {OverRows("reduce_sum", terms)}), shift);
  }

 private:
  ir::Graph graph_;
  ir::GraphBuilder builder_;
  VjpMath math_;
};

// [B,S,K,D] to f32 [B,H,S,D], each key-value head repeated for its query heads.
Val RepeatHeads(Primitives& p, Val x, int64_t heads) {
  const Shape s = p.ShapeOf(x);
  const int64_t group = heads / s.dim(2);
  const Val wide =
      p.math().Broadcast(p.math().Convert(x, DType::kF32),
                         {s.dim(0), s.dim(1), s.dim(2), group, s.dim(3)}, {0, 1, 2, 4});
  return p.Transpose(p.math().Reshape(wide, {s.dim(0), s.dim(1), heads, s.dim(3)}), {0, 2, 1, 3});
}

// bool [B,H,T,S].
Val SeenKeys(Primitives& p, const AttentionShape& a, absl::Span<const Val> masks) {
  const Shape shape = {a.batch, a.heads, a.queries, a.keys};
  const VjpMath& m = p.math();
  const Val key = p.Iota(shape, 3);
  Val query = p.Iota(shape, 2);
  if (a.has_offset) query = m.Add(query, m.Broadcast(masks.back(), shape, {}));
  Val seen = m.Compare("eq", key, key);
  if (a.causal) seen = p.Call("and", {seen, m.Compare("le", key, query)});
  if (a.window > 0) {
    const Val first = m.Sub(query, m.Full({DType::kI32, shape}, static_cast<double>(a.window)));
    seen = p.Call("and", {seen, m.Compare("gt", key, first)});
  }
  if (a.has_segments) {
    seen = p.Call("and", {seen, m.Compare("eq", m.Broadcast(masks[0], shape, {0, 2}),
                                          m.Broadcast(masks[1], shape, {0, 3}))});
  }
  return seen;
}

TEST(CompositesTest, AttentionIsSoftmaxOfScoresTimesValues) {
  int compared = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.op != "attention" || op_case.large) continue;
    const std::vector<Literal> operands = MakeOperands(op_case);
    Primitives p;
    const VjpMath& m = p.math();
    const std::vector<Val> x = p.Inputs(op_case);
    const auto a = AttentionShape::Of(operands[0].type(), operands[1].type(), op_case.attributes);
    const Val q = p.Transpose(m.Convert(x[0], DType::kF32), {0, 2, 1, 3});
    const Val k = RepeatHeads(p, x[1], a.heads);
    const Val v = RepeatHeads(p, x[2], a.heads);
    const Val scores = m.MulScalar(p.Product(q, k, true), a.scale);
    const Val seen = SeenKeys(p, a, absl::MakeConstSpan(x).subspan(3));
    const Val lse = p.LogSumExp(scores, seen);
    const Val weights = m.Select(seen, p.Call("exp", {m.Sub(scores, lse)}), m.FullLike(scores, 0));
    const Val out = p.Transpose(p.Product(weights, v, false), {0, 2, 1, 3});
    const Val lse_once = p.Call("reduce_max", {lse}, {{"axes", Ints{3}}});
    const auto want = p.Run({m.Convert(out, operands[0].dtype()), lse_once}, operands);
    const auto got = RunReference(op_case, operands);
    ASSERT_TRUE(got.ok()) << got.status();
    for (int i = 0; i < 2; ++i) {
      const absl::Status close = CheckClose((*got)[i], want[i], {1e-5, 1e-5});
      EXPECT_TRUE(close.ok()) << op_case.name << " result " << i << ": " << close.message();
    }
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

TEST(CompositesTest, LinearCrossEntropyIsLogSoftmaxOfTheProduct) {
  int compared = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (!absl::StartsWith(op_case.op, "linear_cross_entropy") || op_case.large) continue;
    const std::vector<Literal> operands = MakeOperands(op_case);
    Primitives p;
    const VjpMath& m = p.math();
    const std::vector<Val> x = p.Inputs(op_case);
    const Val logits = p.Product(m.Convert(x[0], DType::kF32), m.Convert(x[1], DType::kF32), true);
    const Shape shape = p.ShapeOf(logits);
    const Val label = m.Broadcast(x[2], shape, {0});
    const double ignored =
        static_cast<double>(op_case.attributes.GetOr<int64_t>("ignore_index", -100));
    const double smoothing = op_case.attributes.GetOr<double>("label_smoothing", 0);
    const Val zero = m.FullLike(logits, 0);
    const Val lse = p.LogSumExp(logits, m.Compare("eq", logits, logits));
    const Val picked =
        p.OverRows("reduce_sum", m.Select(m.Compare("eq", label, p.Iota(shape, 1)), logits, zero));
    const Val mean =
        m.MulScalar(p.OverRows("reduce_sum", logits), 1.0 / static_cast<double>(shape.dim(1)));
    const Val loss =
        m.Sub(m.Sub(lse, m.MulScalar(picked, 1 - smoothing)), m.MulScalar(mean, smoothing));
    const Val counted = m.Compare("ne", label, m.Full({DType::kI32, shape}, ignored));
    // Each row stands V times.
    const Val shares =
        m.MulScalar(m.Select(counted, loss, zero), 1.0 / static_cast<double>(shape.dim(1)));
    const Val kept_lse = m.Select(counted, lse, m.FullLike(lse, -kInf));
    const Val lse_once = p.Call("reduce_max", {kept_lse}, {{"axes", Ints{1}}});
    const Val finite = p.Call("is_finite", {lse_once});
    const auto want =
        p.Run({m.ReduceSum(shares, {0, 1}), m.Select(finite, lse_once, m.FullLike(lse_once, 0))},
              operands);
    const auto got = RunReference(op_case, operands);
    ASSERT_TRUE(got.ok()) << got.status();
    for (int i = 0; i < 2; ++i) {
      const absl::Status close = CheckClose((*got)[i], want[i], {1e-5, 1e-5});
      EXPECT_TRUE(close.ok()) << op_case.name << " result " << i << ": " << close.message();
    }
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace trencadis::ops
