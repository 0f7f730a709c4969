// Activation functions of transformers, with the derivatives that their gradients need.
//
// GELU: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016: x Phi(x), and its tanh
// approximation. SiLU: Elfwing et al., 2017: x sigmoid(x).
#include <cmath>
#include <numbers>

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

using Args = absl::Span<const Scalar>;

constexpr double kSqrtHalf = std::numbers::sqrt2 / 2;
constexpr double kInvSqrt2Pi = std::numbers::inv_sqrtpi * kSqrtHalf;
constexpr double kSqrt2OverPi = std::numbers::inv_sqrtpi * std::numbers::sqrt2;
constexpr double kGeluCubic = 0.044715;

// 1 + exp(-x)
Scalar SigmoidDenominator(const ScalarMath& m, Scalar x) {
  return m.Add(m.Call(UnaryFn::kExp, m.Call(UnaryFn::kNeg, x)), 1.0);
}

Scalar SigmoidScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  return m.Div(1.0, SigmoidDenominator(m, x[0]));
}

Scalar SiluScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  return m.Div(x[0], SigmoidDenominator(m, x[0]));
}

// dy s (1 + x (1 - s)), s = sigmoid(x)
Scalar SiluGradScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  const Scalar s = m.Div(1.0, SigmoidDenominator(m, x[0]));
  return m.Mul(x[1], m.Mul(s, m.Add(m.Mul(x[0], m.Sub(1.0, s)), 1.0)));
}

Scalar ReluScalar(ScalarBuilder& b, Args x, const Attributes&) {
  return b.Binary(ir::BinaryFn::kMax, x[0], ScalarMath(b).Like(x[0], 0));
}

// 0.5 (1 + erf(x / sqrt 2)), the normal distribution's Phi(x)
Scalar NormalCdf(const ScalarMath& m, Scalar x) {
  return m.Mul(m.Add(m.Call(UnaryFn::kErf, m.Mul(x, kSqrtHalf)), 1.0), 0.5);
}

Scalar GeluErfScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  return m.Mul(x[0], NormalCdf(m, x[0]));
}

// dy (Phi(x) + x phi(x)), phi(x) = exp(-x^2 / 2) / sqrt(2 pi)
Scalar GeluErfGradScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  const Scalar exponent = m.Mul(m.Mul(x[0], x[0]), -0.5);
  const Scalar density = m.Mul(m.Call(UnaryFn::kExp, exponent), kInvSqrt2Pi);
  return m.Mul(x[1], m.Add(NormalCdf(m, x[0]), m.Mul(x[0], density)));
}

// tanh(sqrt(2 / pi) (x + 0.044715 x^3))
Scalar GeluInnerTanh(const ScalarMath& m, Scalar x, Scalar square) {
  const Scalar inner = m.Mul(x, m.Add(m.Mul(square, kGeluCubic), 1.0));
  return m.Call(UnaryFn::kTanh, m.Mul(inner, kSqrt2OverPi));
}

Scalar GeluTanhScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  const Scalar t = GeluInnerTanh(m, x[0], m.Mul(x[0], x[0]));
  return m.Mul(m.Mul(x[0], 0.5), m.Add(t, 1.0));
}

// dy (0.5 (1 + t) + 0.5 x (1 - t^2) sqrt(2 / pi) (1 + 3 * 0.044715 x^2))
Scalar GeluTanhGradScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  const Scalar square = m.Mul(x[0], x[0]);
  const Scalar t = GeluInnerTanh(m, x[0], square);
  const Scalar inner = m.Mul(m.Add(m.Mul(square, 3 * kGeluCubic), 1.0), 0.5 * kSqrt2OverPi);
  const Scalar slope = m.Mul(m.Mul(x[0], m.Sub(1.0, m.Mul(t, t))), inner);
  return m.Mul(x[1], m.Add(m.Mul(m.Add(t, 1.0), 0.5), slope));
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Relu(double x) { return std::isnan(x) ? x : std::fmax(x, 0); }
double Silu(double x) { return x * Sigmoid(x); }
double SiluGrad(double x, double dy) {
  return dy * (Sigmoid(x) + x * Sigmoid(x) * (1 - Sigmoid(x)));
}
double Phi(double x) { return std::erfc(-x * kSqrtHalf) / 2; }
double GeluErf(double x) { return x * Phi(x); }
double GeluErfGrad(double x, double dy) {
  return dy * (Phi(x) + x * kInvSqrt2Pi * std::exp(-x * x / 2));
}
double Tanh(double x) { return std::tanh(kSqrt2OverPi * (x + kGeluCubic * x * x * x)); }
double GeluTanh(double x) { return x * (1 + Tanh(x)) / 2; }
double GeluTanhGrad(double x, double dy) {
  const double inner = kSqrt2OverPi * (1 + 3 * kGeluCubic * x * x);
  return dy * ((1 + Tanh(x)) / 2 + x * (1 - Tanh(x) * Tanh(x)) * inner / 2);
}

Val SigmoidVjp(const VjpMath& m, Val dy, Val y) {
  return m.Mul(dy, m.Mul(y, m.Sub(m.FullLike(y, 1), y)));
}

Val ReluVjp(const VjpMath& m, Val dy, Val y) {
  const Val zero = m.FullLike(y, 0);
  return m.Select(m.Compare("gt", y, zero), dy, zero);
}

// With a derivative op of its own, (x, dy) -> dx.
constexpr char kSiluGrad[] = "silu_grad";
constexpr char kGeluErfGrad[] = "gelu_erf_grad";
constexpr char kGeluTanhGrad[] = "gelu_tanh_grad";

template <const char* kGradOp>
absl::Status VjpByOp(ir::VjpContext& c) {
  c.SetGradient(0, c.builder().Emit1(kGradOp, {c.operand(0), c.cotangent(0)}));
  return absl::OkStatus();
}

constexpr ir::OpDef Activation(absl::string_view name, ir::ScalarFn scalar,
                               ir::ReferenceFn reference, ir::VjpFn vjp, VjpReads reads) {
  return {.name = name,
          .num_operands = 1,
          .infer = InferFloats,
          .reference = reference,
          .scalar = scalar,
          .vjp = vjp,
          .vjp_reads_operands = reads.operands,
          .vjp_reads_results = reads.results};
}

// Not differentiable: second derivatives are not needed to train.
constexpr ir::OpDef Derivative(absl::string_view name, ir::ScalarFn scalar,
                               ir::ReferenceFn reference) {
  return {.name = name,
          .num_operands = 2,
          .infer = InferFloats,
          .reference = reference,
          .scalar = scalar};
}

constexpr ir::OpDef kOps[] = {
    Activation("sigmoid", SigmoidScalar, ReferenceFloat1<Sigmoid>, VjpFromResult<SigmoidVjp>,
               kReadsResult),
    {.name = "relu",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferFloats,
     .reference = ReferenceFloat1<Relu>,
     .scalar = ReluScalar,
     .vjp = VjpFromResult<ReluVjp>,
     .vjp_reads_operands = 0},
    Activation("silu", SiluScalar, ReferenceFloat1<Silu>, VjpByOp<kSiluGrad>, kReadsOperand),
    Activation("gelu_erf", GeluErfScalar, ReferenceFloat1<GeluErf>, VjpByOp<kGeluErfGrad>,
               kReadsOperand),
    Activation("gelu_tanh", GeluTanhScalar, ReferenceFloat1<GeluTanh>, VjpByOp<kGeluTanhGrad>,
               kReadsOperand),
    Derivative(kSiluGrad, SiluGradScalar, ReferenceFloat2<SiluGrad>),
    Derivative(kGeluErfGrad, GeluErfGradScalar, ReferenceFloat2<GeluErfGrad>),
    Derivative(kGeluTanhGrad, GeluTanhGradScalar, ReferenceFloat2<GeluTanhGrad>),
};

}  // namespace

OpTable ActivationOps() { return kOps; }

}  // namespace trencadis::ops
