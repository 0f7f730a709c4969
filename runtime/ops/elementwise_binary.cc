// Binary arithmetic. Integers wrap; an integer divided by zero gives 0, its remainder 0.
#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::Attributes;
using ir::BinaryFn;
using ir::CompareFn;
using ir::Scalar;
using ir::ScalarBuilder;

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

constexpr ir::OpDef kOps[] = {
    {.name = "add",
     .num_operands = 2,
     .traits = kCheapCommutative,
     .infer = InferNumbers,
     .scalar = ScalarBinary<BinaryFn::kAdd>},
    {.name = "sub",
     .num_operands = 2,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .scalar = ScalarBinary<BinaryFn::kSub>},
    {.name = "mul",
     .num_operands = 2,
     .traits = kCheapCommutative,
     .infer = InferNumbers,
     .scalar = ScalarBinary<BinaryFn::kMul>},
    {.name = "div", .num_operands = 2, .infer = InferNumbers, .scalar = DivScalar},
    {.name = "rem", .num_operands = 2, .infer = InferNumbers, .scalar = RemScalar},
    {.name = "pow",
     .num_operands = 2,
     .infer = InferFloats,
     .scalar = ScalarBinary<BinaryFn::kPow>},
    {.name = "max",
     .num_operands = 2,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .scalar = ScalarBinary<BinaryFn::kMax>},
    {.name = "min",
     .num_operands = 2,
     .traits = kCheapElementwise,
     .infer = InferNumbers,
     .scalar = ScalarBinary<BinaryFn::kMin>},
};

}  // namespace

OpTable BinaryOps() { return kOps; }

}  // namespace trencadis::ops
