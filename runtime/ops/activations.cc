// Activation functions of transformers, with the derivatives that their gradients need.
//
// GELU: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016: x Phi(x), and its tanh
// approximation. SiLU: Elfwing et al., 2017: x sigmoid(x).
#include <numbers>

#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::Attributes;
using ir::Scalar;
using ir::ScalarBuilder;
using ir::UnaryFn;

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
Scalar GeluTanh(const ScalarMath& m, Scalar x, Scalar square) {
  const Scalar inner = m.Mul(x, m.Add(m.Mul(square, kGeluCubic), 1.0));
  return m.Call(UnaryFn::kTanh, m.Mul(inner, kSqrt2OverPi));
}

Scalar GeluTanhScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  const Scalar t = GeluTanh(m, x[0], m.Mul(x[0], x[0]));
  return m.Mul(m.Mul(x[0], 0.5), m.Add(t, 1.0));
}

// dy (0.5 (1 + t) + 0.5 x (1 - t^2) sqrt(2 / pi) (1 + 3 * 0.044715 x^2))
Scalar GeluTanhGradScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const ScalarMath m(b);
  const Scalar square = m.Mul(x[0], x[0]);
  const Scalar t = GeluTanh(m, x[0], square);
  const Scalar inner = m.Mul(m.Add(m.Mul(square, 3 * kGeluCubic), 1.0), 0.5 * kSqrt2OverPi);
  const Scalar slope = m.Mul(m.Mul(x[0], m.Sub(1.0, m.Mul(t, t))), inner);
  return m.Mul(x[1], m.Add(m.Mul(m.Add(t, 1.0), 0.5), slope));
}

constexpr ir::OpDef kOps[] = {
    {.name = "sigmoid", .num_operands = 1, .infer = InferFloats, .scalar = SigmoidScalar},
    {.name = "relu",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferFloats,
     .scalar = ReluScalar},
    {.name = "silu", .num_operands = 1, .infer = InferFloats, .scalar = SiluScalar},
    {.name = "gelu_erf", .num_operands = 1, .infer = InferFloats, .scalar = GeluErfScalar},
    {.name = "gelu_tanh", .num_operands = 1, .infer = InferFloats, .scalar = GeluTanhScalar},
    {.name = "silu_grad", .num_operands = 2, .infer = InferFloats, .scalar = SiluGradScalar},
    {.name = "gelu_erf_grad", .num_operands = 2, .infer = InferFloats, .scalar = GeluErfGradScalar},
    {.name = "gelu_tanh_grad",
     .num_operands = 2,
     .infer = InferFloats,
     .scalar = GeluTanhGradScalar},
};

}  // namespace

OpTable ActivationOps() { return kOps; }

}  // namespace trencadis::ops
