// Binary arithmetic. Integers wrap; an integer divided by zero gives 0, its remainder 0.
#include <cmath>
#include <functional>

#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

namespace trencadis::ops {
namespace {

using ir::Attributes;
using ir::BinaryFn;
using ir::CompareFn;
using ir::Scalar;
using ir::ScalarBuilder;
using ir::Val;
using ir::VjpContext;

using Args = absl::Span<const Scalar>;

// The hardware traps on x / 0 and on the smallest integer / -1, so neither divisor reaches it.
Scalar DivScalar(ScalarBuilder& b, Args x, const Attributes&) {
  if (!IsInteger(b.TypeOf(x[0]))) return b.Binary(BinaryFn::kDiv, x[0], x[1]);
  const ScalarMath m(b);
  const Scalar zero = m.Like(x[1], 0);
  const Scalar one = m.Like(x[1], 1);
  const Scalar by_zero = b.Compare(CompareFn::kEq, x[1], zero);
  if (b.TypeOf(x[0]) == DType::kU8) {
    return b.Select(by_zero, zero, m.Div(x[0], b.Select(by_zero, one, x[1])));
  }
  const Scalar by_minus_one = b.Compare(CompareFn::kEq, x[1], m.Like(x[1], -1));
  const Scalar divisor = b.Select(b.Binary(BinaryFn::kOr, by_zero, by_minus_one), one, x[1]);
  const Scalar quotient = m.Div(x[0], divisor);
  return b.Select(by_zero, zero, b.Select(by_minus_one, m.Sub(zero, x[0]), quotient));
}

Scalar RemScalar(ScalarBuilder& b, Args x, const Attributes&) {
  if (!IsInteger(b.TypeOf(x[0]))) return b.Binary(BinaryFn::kRem, x[0], x[1]);
  const ScalarMath m(b);
  const Scalar one = m.Like(x[1], 1);
  // Remainders by 0, by -1 and by 1 are all 0.
  Scalar replace = b.Compare(CompareFn::kEq, x[1], m.Like(x[1], 0));
  if (b.TypeOf(x[0]) != DType::kU8) {
    const Scalar by_minus_one = b.Compare(CompareFn::kEq, x[1], m.Like(x[1], -1));
    replace = b.Binary(BinaryFn::kOr, replace, by_minus_one);
  }
  return b.Binary(BinaryFn::kRem, x[0], b.Select(replace, one, x[1]));
}

double Add(double x, double y) { return x + y; }
double Sub(double x, double y) { return x - y; }
double Mul(double x, double y) { return x * y; }
double Div(double x, double y) { return x / y; }
double Max(double x, double y) { return std::isnan(x) || x > y ? x : y; }
double Min(double x, double y) { return std::isnan(x) || x < y ? x : y; }

// Unsigned, where overflow is defined; the narrower types wrap when stored.
template <typename Fn>
int64_t Wrapped(Fn fn, int64_t x, int64_t y) {
  return static_cast<int64_t>(fn(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
}
int64_t AddInt(int64_t x, int64_t y) { return Wrapped(std::plus<>(), x, y); }
int64_t SubInt(int64_t x, int64_t y) { return Wrapped(std::minus<>(), x, y); }
int64_t MulInt(int64_t x, int64_t y) { return Wrapped(std::multiplies<>(), x, y); }
int64_t DivInt(int64_t x, int64_t y) { return y == 0 ? 0 : y == -1 ? SubInt(0, x) : x / y; }
int64_t RemInt(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
int64_t MaxInt(int64_t x, int64_t y) { return x > y ? x : y; }
int64_t MinInt(int64_t x, int64_t y) { return x < y ? x : y; }

absl::Status AddVjp(VjpContext& c) {
  c.SetGradient(0, c.cotangent(0));
  c.SetGradient(1, c.cotangent(0));
  return absl::OkStatus();
}

absl::Status SubVjp(VjpContext& c) {
  c.SetGradient(0, c.cotangent(0));
  if (c.NeedsGradient(1)) c.SetGradient(1, VjpMath(c).Neg(c.cotangent(0)));
  return absl::OkStatus();
}

absl::Status MulVjp(VjpContext& c) {
  const VjpMath m(c);
  if (c.NeedsGradient(0)) c.SetGradient(0, m.Mul(c.cotangent(0), c.operand(1)));
  if (c.NeedsGradient(1)) c.SetGradient(1, m.Mul(c.cotangent(0), c.operand(0)));
  return absl::OkStatus();
}

// d(x/y) = dx / y - (x/y) dy / y
absl::Status DivVjp(VjpContext& c) {
  const VjpMath m(c);
  const Val scaled = m.Div(c.cotangent(0), c.operand(1));
  c.SetGradient(0, scaled);
  if (c.NeedsGradient(1)) c.SetGradient(1, m.Neg(m.Mul(scaled, c.result(0))));
  return absl::OkStatus();
}

// rem(x, y) = x - trunc(x/y) y
absl::Status RemVjp(VjpContext& c) {
  c.SetGradient(0, c.cotangent(0));
  if (!c.NeedsGradient(1)) return absl::OkStatus();
  const VjpMath m(c);
  const Val quotient = m.Div(m.Sub(c.operand(0), c.result(0)), c.operand(1));
  c.SetGradient(1, m.Neg(m.Mul(c.cotangent(0), quotient)));
  return absl::OkStatus();
}

// d(x^y) = y x^(y-1) dx + x^y log(x) dy; the latter is 0 where x is, as the limit for y > 0.
absl::Status PowVjp(VjpContext& c) {
  const VjpMath m(c);
  const Val x = c.operand(0);
  if (c.NeedsGradient(0)) {
    const Val y = c.operand(1);
    const Val power = c.builder().Emit1("pow", {x, m.AddScalar(y, -1)});
    c.SetGradient(0, m.Mul(c.cotangent(0), m.Mul(y, power)));
  }
  if (c.NeedsGradient(1)) {
    const Val zero = m.FullLike(x, 0);
    const Val slope = m.Mul(c.result(0), m.Call("log", x));
    c.SetGradient(1, m.Mul(c.cotangent(0), m.Select(m.Compare("eq", x, zero), zero, slope)));
  }
  return absl::OkStatus();
}

// To the chosen operand; in halves where they are equal, as torch.maximum does.
absl::Status ChoiceVjp(VjpContext& c, absl::string_view first_wins) {
  const VjpMath m(c);
  const Val dy = c.cotangent(0);
  const Val half = m.MulScalar(dy, 0.5);
  const Val zero = m.FullLike(dy, 0);
  const Val x = c.operand(0);
  const Val y = c.operand(1);
  const Val equal = m.Compare("eq", x, y);
  const auto gradient = [&](Val a, Val b) {
    return m.Select(equal, half, m.Select(m.Compare(first_wins, a, b), dy, zero));
  };
  if (c.NeedsGradient(0)) c.SetGradient(0, gradient(x, y));
  if (c.NeedsGradient(1)) c.SetGradient(1, gradient(y, x));
  return absl::OkStatus();
}

absl::Status MaxVjp(VjpContext& c) { return ChoiceVjp(c, "gt"); }
absl::Status MinVjp(VjpContext& c) { return ChoiceVjp(c, "lt"); }

constexpr ir::OpDef kOps[] = {
    {.name = "add",
     .num_operands = 2,
     .traits = kCheapCommutative,
     .infer = InferNumbers,
     .reference = Reference2<Add, AddInt>,
     .scalar = ScalarBinary<BinaryFn::kAdd>,
     .vjp = AddVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "sub",
     .num_operands = 2,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .reference = Reference2<Sub, SubInt>,
     .scalar = ScalarBinary<BinaryFn::kSub>,
     .vjp = SubVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "mul",
     .num_operands = 2,
     .traits = kCheapCommutative,
     .infer = InferNumbers,
     .reference = Reference2<Mul, MulInt>,
     .scalar = ScalarBinary<BinaryFn::kMul>,
     .vjp = MulVjp,
     .vjp_reads_results = 0},
    {.name = "div",
     .num_operands = 2,
     .infer = InferNumbers,
     .reference = Reference2<Div, DivInt>,
     .scalar = DivScalar,
     .vjp = DivVjp,
     .vjp_reads_operands = 0b10},
    {.name = "rem",
     .num_operands = 2,
     .infer = InferNumbers,
     .reference = Reference2<std::fmod, RemInt>,
     .scalar = RemScalar,
     .vjp = RemVjp},
    {.name = "pow",
     .num_operands = 2,
     .infer = InferFloats,
     .reference = ReferenceFloat2<std::pow>,
     .scalar = ScalarBinary<BinaryFn::kPow>,
     .vjp = PowVjp},
    {.name = "max",
     .num_operands = 2,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .reference = Reference2<Max, MaxInt>,
     .scalar = ScalarBinary<BinaryFn::kMax>,
     .vjp = MaxVjp,
     .vjp_reads_results = 0},
    {.name = "min",
     .num_operands = 2,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .reference = Reference2<Min, MinInt>,
     .scalar = ScalarBinary<BinaryFn::kMin>,
     .vjp = MinVjp,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable BinaryOps() { return kOps; }

}  // namespace trencadis::ops
