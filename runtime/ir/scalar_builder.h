// ScalarBuilder: the vocabulary in which an elementwise op says what it does to one element.
//
// The code generator implements it with vector instructions, a cost model with counters. Every
// function means the C++ function of the same name on the operands' type (f32, i32, i64, bool, u8).
#ifndef TRENCADIS_RUNTIME_IR_SCALAR_BUILDER_H_
#define TRENCADIS_RUNTIME_IR_SCALAR_BUILDER_H_

#include "runtime/core/dtype.h"

namespace trencadis::ir {

// A scalar inside the builder that made it.
struct Scalar {
  int id = -1;
};

enum class UnaryFn {
  kNeg,
  kAbs,
  kExp,
  kLog,
  kLog1p,
  kExpm1,
  kSqrt,
  kTanh,
  kErf,
  kSin,
  kCos,
  kFloor,
  kCeil,
  kNot
};
// Max and min propagate NaN, as torch.maximum does. kMulHigh: the upper half of an unsigned
// product.
enum class BinaryFn {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kPow,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRightLogical,
  kMulHigh
};
enum class CompareFn { kEq, kNe, kLt, kLe, kGt, kGe };

class ScalarBuilder {
 public:
  virtual ~ScalarBuilder() = default;
  virtual DType TypeOf(Scalar value) const = 0;  // never kBF16: bf16 is computed in f32
  virtual Scalar Constant(DType dtype, double value) = 0;
  virtual Scalar Unary(UnaryFn fn, Scalar x) = 0;
  virtual Scalar Binary(BinaryFn fn, Scalar x, Scalar y) = 0;
  virtual Scalar Compare(CompareFn fn, Scalar x, Scalar y) = 0;  // kBool
  virtual Scalar Select(Scalar condition, Scalar if_true, Scalar if_false) = 0;
  // As static_cast; kBF16 as target rounds and stays f32.
  virtual Scalar Convert(Scalar x, DType dtype) = 0;
  // Rounds once: x * y + z.
  virtual Scalar Fma(Scalar x, Scalar y, Scalar z) = 0;
};

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_SCALAR_BUILDER_H_
