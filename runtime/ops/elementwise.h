// What the tables of elementwise ops share: shape inference, one-instruction scalar forms, vjp
// rules of one operand.
#ifndef TRENCADIS_RUNTIME_OPS_ELEMENTWISE_H_
#define TRENCADIS_RUNTIME_OPS_ELEMENTWISE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/ir/op_def.h"
#include "runtime/ir/scalar_builder.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {

// All operands f32 or all bf16, of one shape; so is the result.
absl::StatusOr<ir::TypeList> InferFloats(Operands operands, const ir::Attributes& attributes);
// All operands of one type, which is not bool; so is the result.
absl::StatusOr<ir::TypeList> InferNumbers(Operands operands, const ir::Attributes& attributes);

constexpr ir::OpTraits kCheapElementwise = {.op_class = ir::OpClass::kElementwise,
                                            .cheap_to_recompute = true};
constexpr ir::OpTraits kCheapCommutative = {
    .op_class = ir::OpClass::kElementwise, .commutative = true, .cheap_to_recompute = true};

template <ir::UnaryFn kFn>
ir::Scalar ScalarUnary(ir::ScalarBuilder& b, absl::Span<const ir::Scalar> x,
                       const ir::Attributes&) {
  return b.Unary(kFn, x[0]);
}

template <ir::BinaryFn kFn>
ir::Scalar ScalarBinary(ir::ScalarBuilder& b, absl::Span<const ir::Scalar> x,
                        const ir::Attributes&) {
  return b.Binary(kFn, x[0], x[1]);
}

template <ir::CompareFn kFn>
ir::Scalar ScalarCompare(ir::ScalarBuilder& b, absl::Span<const ir::Scalar> x,
                         const ir::Attributes&) {
  return b.Compare(kFn, x[0], x[1]);
}

// dx as a function of dy and x (of dy and y): a rule that keeps the operand (the result) alive.
template <ir::Val (*kFn)(const VjpMath& m, ir::Val dy, ir::Val x)>
absl::Status VjpFromOperand(ir::VjpContext& c) {
  c.SetGradient(0, kFn(VjpMath(c), c.cotangent(0), c.operand(0)));
  return absl::OkStatus();
}

template <ir::Val (*kFn)(const VjpMath& m, ir::Val dy, ir::Val y)>
absl::Status VjpFromResult(ir::VjpContext& c) {
  c.SetGradient(0, kFn(VjpMath(c), c.cotangent(0), c.result(0)));
  return absl::OkStatus();
}

// OpDef::vjp_reads_operands and vjp_reads_results.
struct VjpReads {
  uint32_t operands;
  uint32_t results;
};
constexpr VjpReads kReadsOperand = {1, 0};
constexpr VjpReads kReadsResult = {0, 1};

// Arithmetic on scalars as formulas are written; literals take the type of the other operand.
class ScalarMath {
 public:
  explicit ScalarMath(ir::ScalarBuilder& builder) : builder_(builder) {}

  ir::Scalar Like(ir::Scalar x, double value) const {
    return builder_.Constant(builder_.TypeOf(x), value);
  }
  ir::Scalar Add(ir::Scalar x, ir::Scalar y) const {
    return builder_.Binary(ir::BinaryFn::kAdd, x, y);
  }
  ir::Scalar Add(ir::Scalar x, double y) const { return Add(x, Like(x, y)); }
  ir::Scalar Sub(ir::Scalar x, ir::Scalar y) const {
    return builder_.Binary(ir::BinaryFn::kSub, x, y);
  }
  ir::Scalar Sub(double x, ir::Scalar y) const { return Sub(Like(y, x), y); }
  ir::Scalar Mul(ir::Scalar x, ir::Scalar y) const {
    return builder_.Binary(ir::BinaryFn::kMul, x, y);
  }
  ir::Scalar Mul(ir::Scalar x, double y) const { return Mul(x, Like(x, y)); }
  ir::Scalar Div(ir::Scalar x, ir::Scalar y) const {
    return builder_.Binary(ir::BinaryFn::kDiv, x, y);
  }
  ir::Scalar Div(double x, ir::Scalar y) const { return Div(Like(y, x), y); }
  ir::Scalar Call(ir::UnaryFn fn, ir::Scalar x) const { return builder_.Unary(fn, x); }

 private:
  ir::ScalarBuilder& builder_;
};

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_ELEMENTWISE_H_
