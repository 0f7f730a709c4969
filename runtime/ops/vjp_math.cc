#include "runtime/ops/vjp_math.h"

#include <memory>

namespace trencadis::ops {

ir::Val VjpMath::Full(const TensorType& type, double value) const {
  Literal literal({type.dtype, Shape{}});
  literal.SetDouble(0, value);
  const Val scalar = builder_.Emit1(
      "constant", {}, {{"value", std::make_shared<const Literal>(std::move(literal))}});
  return type.shape.rank() == 0 ? scalar : Broadcast(scalar, type.shape, {});
}

ir::Val VjpMath::Convert(Val x, DType dtype) const {
  if (builder_.TypeOf(x).dtype == dtype) return x;
  return builder_.Emit1("convert", {x}, {{"dtype", dtype}});
}

ir::Val VjpMath::Reshape(Val x, const Shape& shape) const {
  if (builder_.TypeOf(x).shape == shape) return x;
  return builder_.Emit1("reshape", {x}, {{"shape", shape.dims()}});
}

ir::Val VjpMath::Broadcast(Val x, const Shape& shape, Ints axes) const {
  return builder_.Emit1("broadcast", {x}, {{"shape", shape.dims()}, {"axes", std::move(axes)}});
}

ir::Val VjpMath::ReduceSum(Val x, Ints axes) const {
  if (axes.empty()) return x;
  return builder_.Emit1("reduce_sum", {x}, {{"axes", std::move(axes)}});
}

ir::Val VjpMath::Pad(Val x, Ints low, Ints high) const {
  return builder_.Emit1("pad", {x},
                        {{"low", std::move(low)}, {"high", std::move(high)}, {"value", 0.0}});
}

}  // namespace trencadis::ops
