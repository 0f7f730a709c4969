// Unary functions of numbers, and convert.
#include "runtime/base/status.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::Attributes;
using ir::Scalar;
using ir::ScalarBuilder;
using ir::UnaryFn;

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

constexpr ir::AttributeDef kConvertAttributes[] = {{"dtype", ir::AttributeKind::kDType}};

constexpr ir::OpDef kOps[] = {
    {.name = "neg",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .scalar = ScalarUnary<UnaryFn::kNeg>},
    {.name = "abs",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .scalar = ScalarUnary<UnaryFn::kAbs>},
    {.name = "exp", .num_operands = 1, .infer = InferFloats, .scalar = ScalarUnary<UnaryFn::kExp>},
    {.name = "log", .num_operands = 1, .infer = InferFloats, .scalar = ScalarUnary<UnaryFn::kLog>},
    {.name = "log1p",
     .num_operands = 1,
     .infer = InferFloats,
     .scalar = ScalarUnary<UnaryFn::kLog1p>},
    {.name = "expm1",
     .num_operands = 1,
     .infer = InferFloats,
     .scalar = ScalarUnary<UnaryFn::kExpm1>},
    {.name = "sqrt",
     .num_operands = 1,
     .infer = InferFloats,
     .scalar = ScalarUnary<UnaryFn::kSqrt>},
    {.name = "rsqrt", .num_operands = 1, .infer = InferFloats, .scalar = RsqrtScalar},
    {.name = "tanh",
     .num_operands = 1,
     .infer = InferFloats,
     .scalar = ScalarUnary<UnaryFn::kTanh>},
    {.name = "erf", .num_operands = 1, .infer = InferFloats, .scalar = ScalarUnary<UnaryFn::kErf>},
    {.name = "sin", .num_operands = 1, .infer = InferFloats, .scalar = ScalarUnary<UnaryFn::kSin>},
    {.name = "cos", .num_operands = 1, .infer = InferFloats, .scalar = ScalarUnary<UnaryFn::kCos>},
    {.name = "floor",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferFloats,
     .scalar = ScalarUnary<UnaryFn::kFloor>,
     .stops_gradient = true},
    {.name = "ceil",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferFloats,
     .scalar = ScalarUnary<UnaryFn::kCeil>,
     .stops_gradient = true},
    {.name = "convert",
     .num_operands = 1,
     .attributes = kConvertAttributes,
     .traits = kCheapElementwise,
     .infer = InferConvert,
     .scalar = ConvertScalar},
};

}  // namespace

OpTable UnaryOps() { return kOps; }

}  // namespace trencadis::ops
