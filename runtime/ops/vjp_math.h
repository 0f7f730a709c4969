// Formulas on whole tensors, for vjp rules. Shapes and dtypes of operands are equal unless said.
#ifndef TRENCADIS_RUNTIME_OPS_VJP_MATH_H_
#define TRENCADIS_RUNTIME_OPS_VJP_MATH_H_

#include <cstdint>
#include <vector>

#include "runtime/ir/op_def.h"

namespace trencadis::ops {

class VjpMath {
 public:
  using Val = ir::Val;
  using Ints = std::vector<int64_t>;

  explicit VjpMath(ir::OpBuilder& builder) : builder_(builder) {}
  explicit VjpMath(ir::VjpContext& context) : builder_(context.builder()) {}

  Val Add(Val x, Val y) const { return builder_.Emit1("add", {x, y}); }
  Val Sub(Val x, Val y) const { return builder_.Emit1("sub", {x, y}); }
  Val Mul(Val x, Val y) const { return builder_.Emit1("mul", {x, y}); }
  Val Div(Val x, Val y) const { return builder_.Emit1("div", {x, y}); }
  Val Neg(Val x) const { return builder_.Emit1("neg", {x}); }
  Val Call(absl::string_view op, Val x) const { return builder_.Emit1(op, {x}); }
  Val Compare(absl::string_view op, Val x, Val y) const { return builder_.Emit1(op, {x, y}); }
  Val Select(Val condition, Val if_true, Val if_false) const {
    return builder_.Emit1("select", {condition, if_true, if_false});
  }
  // Every element `value`, of the type of `x`.
  Val FullLike(Val x, double value) const { return Full(builder_.TypeOf(x), value); }
  Val Full(const TensorType& type, double value) const;
  Val AddScalar(Val x, double value) const { return Add(x, FullLike(x, value)); }
  Val MulScalar(Val x, double value) const { return Mul(x, FullLike(x, value)); }

  Val Convert(Val x, DType dtype) const;
  Val Reshape(Val x, const Shape& shape) const;
  // Operand axis i becomes result axis axes[i].
  Val Broadcast(Val x, const Shape& shape, Ints axes) const;
  Val ReduceSum(Val x, Ints axes) const;
  Val Pad(Val x, Ints low, Ints high) const;

 private:
  ir::OpBuilder& builder_;
};

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_VJP_MATH_H_
