// Unary functions of numbers, and convert.
#include <cmath>
#include <numbers>

#include "runtime/base/status.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

namespace trencadis::ops {
namespace {

using ir::Attributes;
using ir::Scalar;
using ir::ScalarBuilder;
using ir::UnaryFn;
using ir::Val;

using M = VjpMath;

absl::StatusOr<ir::TypeList> InferConvert(Operands operands, const Attributes& attributes) {
  return ir::TypeList{{attributes.Get<DType>("dtype"), operands[0].shape}};
}

Scalar RsqrtScalar(ScalarBuilder& b, absl::Span<const Scalar> x, const Attributes&) {
  const ScalarMath m(b);
  return m.Div(1.0, m.Call(UnaryFn::kSqrt, x[0]));
}

Scalar ConvertScalar(ScalarBuilder& b, absl::Span<const Scalar> x, const Attributes& attributes) {
  return b.Convert(x[0], attributes.Get<DType>("dtype"));
}

// Between integers it wraps; floats become integers as Literal::SetDouble says.
absl::StatusOr<Literals> ConvertReference(LiteralSpan x, const Attributes&,
                                          const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    if (IsFloat(x[0].dtype())) {
      y.SetDouble(i, x[0].AsDouble(i));
    } else if (IsFloat(y.dtype())) {
      // Straight to f32: a detour through double would round twice.
      y.SetDouble(i, static_cast<float>(IntAt(x[0], i)));
    } else {
      SetInt(y, i, IntAt(x[0], i));
    }
  }
  return Literals{std::move(y)};
}

absl::Status NegVjp(ir::VjpContext& c) {
  c.SetGradient(0, M(c).Neg(c.cotangent(0)));
  return absl::OkStatus();
}

// Nothing flows through integers.
absl::Status ConvertVjp(ir::VjpContext& c) {
  const DType dtype = c.builder().TypeOf(c.operand(0)).dtype;
  if (IsFloat(dtype) && IsFloat(c.attributes().Get<DType>("dtype"))) {
    c.SetGradient(0, M(c).Convert(c.cotangent(0), dtype));
  }
  return absl::OkStatus();
}

Val AbsGrad(const M& m, Val dy, Val x) {
  const Val zero = m.FullLike(x, 0);
  return m.Select(m.Compare("gt", x, zero), dy,
                  m.Select(m.Compare("lt", x, zero), m.Neg(dy), zero));
}

Val ExpGrad(const M& m, Val dy, Val y) { return m.Mul(dy, y); }
Val LogGrad(const M& m, Val dy, Val x) { return m.Div(dy, x); }
Val Log1pGrad(const M& m, Val dy, Val x) { return m.Div(dy, m.AddScalar(x, 1)); }
Val Expm1Grad(const M& m, Val dy, Val y) { return m.Mul(dy, m.AddScalar(y, 1)); }
Val SqrtGrad(const M& m, Val dy, Val y) { return m.Div(m.MulScalar(dy, 0.5), y); }

// -0.5 x^-1.5 = -0.5 y^3
Val RsqrtGrad(const M& m, Val dy, Val y) {
  return m.Mul(m.MulScalar(dy, -0.5), m.Mul(y, m.Mul(y, y)));
}

Val TanhGrad(const M& m, Val dy, Val y) { return m.Mul(dy, m.Sub(m.FullLike(y, 1), m.Mul(y, y))); }

// 2 / sqrt(pi) exp(-x^2)
Val ErfGrad(const M& m, Val dy, Val x) {
  const Val bell = m.Call("exp", m.Neg(m.Mul(x, x)));
  return m.Mul(m.MulScalar(dy, 2 * std::numbers::inv_sqrtpi), bell);
}

Val SinGrad(const M& m, Val dy, Val x) { return m.Mul(dy, m.Call("cos", x)); }
Val CosGrad(const M& m, Val dy, Val x) { return m.Neg(m.Mul(dy, m.Call("sin", x))); }

double Neg(double x) { return -x; }
int64_t NegInt(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }
int64_t AbsInt(int64_t x) { return x < 0 ? NegInt(x) : x; }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

constexpr ir::OpDef Function(absl::string_view name, ir::ScalarFn scalar, ir::ReferenceFn reference,
                             ir::VjpFn vjp, VjpReads reads) {
  return {.name = name,
          .num_operands = 1,
          .infer = InferFloats,
          .reference = reference,
          .scalar = scalar,
          .vjp = vjp,
          .vjp_reads_operands = reads.operands,
          .vjp_reads_results = reads.results};
}

constexpr ir::AttributeDef kConvertAttributes[] = {{"dtype", ir::AttributeKind::kDType}};

constexpr ir::OpDef kOps[] = {
    {.name = "neg",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .reference = Reference1<Neg, NegInt>,
     .scalar = ScalarUnary<UnaryFn::kNeg>,
     .vjp = NegVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "abs",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .reference = Reference1<std::fabs, AbsInt>,
     .scalar = ScalarUnary<UnaryFn::kAbs>,
     .vjp = VjpFromOperand<AbsGrad>,
     .vjp_reads_results = 0},
    Function("exp", ScalarUnary<UnaryFn::kExp>, ReferenceFloat1<std::exp>, VjpFromResult<ExpGrad>,
             kReadsResult),
    Function("log", ScalarUnary<UnaryFn::kLog>, ReferenceFloat1<std::log>, VjpFromOperand<LogGrad>,
             kReadsOperand),
    Function("log1p", ScalarUnary<UnaryFn::kLog1p>, ReferenceFloat1<std::log1p>,
             VjpFromOperand<Log1pGrad>, kReadsOperand),
    Function("expm1", ScalarUnary<UnaryFn::kExpm1>, ReferenceFloat1<std::expm1>,
             VjpFromResult<Expm1Grad>, kReadsResult),
    Function("sqrt", ScalarUnary<UnaryFn::kSqrt>, ReferenceFloat1<std::sqrt>,
             VjpFromResult<SqrtGrad>, kReadsResult),
    Function("rsqrt", RsqrtScalar, ReferenceFloat1<Rsqrt>, VjpFromResult<RsqrtGrad>, kReadsResult),
    Function("tanh", ScalarUnary<UnaryFn::kTanh>, ReferenceFloat1<std::tanh>,
             VjpFromResult<TanhGrad>, kReadsResult),
    Function("erf", ScalarUnary<UnaryFn::kErf>, ReferenceFloat1<std::erf>, VjpFromOperand<ErfGrad>,
             kReadsOperand),
    Function("sin", ScalarUnary<UnaryFn::kSin>, ReferenceFloat1<std::sin>, VjpFromOperand<SinGrad>,
             kReadsOperand),
    Function("cos", ScalarUnary<UnaryFn::kCos>, ReferenceFloat1<std::cos>, VjpFromOperand<CosGrad>,
             kReadsOperand),
    {.name = "floor",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferFloats,
     .reference = ReferenceFloat1<std::floor>,
     .scalar = ScalarUnary<UnaryFn::kFloor>,
     .stops_gradient = true},
    {.name = "ceil",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferFloats,
     .reference = ReferenceFloat1<std::ceil>,
     .scalar = ScalarUnary<UnaryFn::kCeil>,
     .stops_gradient = true},
    {.name = "convert",
     .num_operands = 1,
     .attributes = kConvertAttributes,
     .traits = kCheapElementwise,
     .infer = InferConvert,
     .reference = ConvertReference,
     .scalar = ConvertScalar,
     .vjp = ConvertVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable UnaryOps() { return kOps; }

}  // namespace trencadis::ops
