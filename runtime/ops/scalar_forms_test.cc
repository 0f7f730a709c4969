// Scalar forms of elementwise ops, evaluated on the host, against the reference.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/ir/scalar_builder.h"
#include "runtime/ops/op_case.h"
#include "runtime/ops/registry.h"

namespace trencadis::ops {
namespace {

using ir::BinaryFn;
using ir::CompareFn;
using ir::Scalar;
using ir::UnaryFn;

// Computes at once: floats in f32, integers as the hardware does, so that a form that divides
// integers by zero is caught.
class EvaluatingBuilder : public ir::ScalarBuilder {
 public:
  Scalar Float(float value) { return Add({DType::kF32, value, 0}); }
  Scalar Int(DType dtype, int64_t value) { return Add({dtype, 0, Wrap(dtype, value)}); }
  float FloatOf(Scalar x) const { return values_[x.id].real; }
  int64_t IntOf(Scalar x) const { return values_[x.id].integer; }

  DType TypeOf(Scalar x) const override { return values_[x.id].dtype; }
  Scalar Constant(DType dtype, double value) override {
    return IsFloat(dtype) ? Float(static_cast<float>(value))
                          : Int(dtype, static_cast<int64_t>(value));
  }
  Scalar Unary(UnaryFn fn, Scalar x) override {
    if (IsFloat(TypeOf(x))) return Float(FloatUnary(fn, FloatOf(x)));
    const int64_t value = IntOf(x);
    switch (fn) {
      case UnaryFn::kNeg:
        return Int(TypeOf(x), static_cast<int64_t>(-static_cast<uint64_t>(value)));
      case UnaryFn::kAbs:
        return value < 0 ? Unary(UnaryFn::kNeg, x) : x;
      case UnaryFn::kNot:
        return Int(TypeOf(x), TypeOf(x) == DType::kBool ? !value : ~value);
      default:
        ADD_FAILURE() << "a function of floats on " << DTypeName(TypeOf(x));
        return x;
    }
  }
  Scalar Binary(BinaryFn fn, Scalar x, Scalar y) override {
    EXPECT_EQ(TypeOf(x), TypeOf(y));
    if (IsFloat(TypeOf(x))) return Float(FloatBinary(fn, FloatOf(x), FloatOf(y)));
    return Int(TypeOf(x), IntBinary(fn, TypeOf(x), IntOf(x), IntOf(y)));
  }
  Scalar Compare(CompareFn fn, Scalar x, Scalar y) override {
    EXPECT_EQ(TypeOf(x), TypeOf(y));
    const bool result = IsFloat(TypeOf(x)) ? Relation(fn, FloatOf(x), FloatOf(y))
                                           : Relation(fn, IntOf(x), IntOf(y));
    return Int(DType::kBool, result);
  }
  Scalar Select(Scalar condition, Scalar if_true, Scalar if_false) override {
    EXPECT_EQ(TypeOf(condition), DType::kBool);
    EXPECT_EQ(TypeOf(if_true), TypeOf(if_false));
    return IntOf(condition) ? if_true : if_false;
  }
  Scalar Convert(Scalar x, DType dtype) override {
    const bool from_float = IsFloat(TypeOf(x));
    if (dtype == DType::kF32) {
      return Float(from_float ? FloatOf(x) : static_cast<float>(IntOf(x)));
    }
    if (dtype == DType::kBF16) {
      return Float(ToF32(ToBF16(from_float ? FloatOf(x) : static_cast<float>(IntOf(x)))));
    }
    if (!from_float) return Int(dtype, IntOf(x));
    if (dtype == DType::kBool) return Int(dtype, FloatOf(x) != 0);
    return Int(dtype, static_cast<int64_t>(FloatOf(x)));
  }
  Scalar Fma(Scalar x, Scalar y, Scalar z) override {
    return Float(std::fma(FloatOf(x), FloatOf(y), FloatOf(z)));
  }

 private:
  struct Value {
    DType dtype;
    float real;
    int64_t integer;
  };

  Scalar Add(Value value) {
    values_.push_back(value);
    return {static_cast<int>(values_.size()) - 1};
  }

  static int64_t Wrap(DType dtype, int64_t value) {
    switch (dtype) {
      case DType::kI32:
        return static_cast<int32_t>(value);
      case DType::kU8:
        return static_cast<uint8_t>(value);
      case DType::kBool:
        return value != 0;
      default:
        return value;
    }
  }

  static float FloatUnary(UnaryFn fn, float x) {
    switch (fn) {
      case UnaryFn::kNeg:
        return -x;
      case UnaryFn::kAbs:
        return std::fabs(x);
      case UnaryFn::kExp:
        return std::exp(x);
      case UnaryFn::kLog:
        return std::log(x);
      case UnaryFn::kLog1p:
        return std::log1p(x);
      case UnaryFn::kExpm1:
        return std::expm1(x);
      case UnaryFn::kSqrt:
        return std::sqrt(x);
      case UnaryFn::kTanh:
        return std::tanh(x);
      case UnaryFn::kErf:
        return std::erf(x);
      case UnaryFn::kSin:
        return std::sin(x);
      case UnaryFn::kCos:
        return std::cos(x);
      case UnaryFn::kFloor:
        return std::floor(x);
      case UnaryFn::kCeil:
        return std::ceil(x);
      case UnaryFn::kNot:
        break;
    }
    ADD_FAILURE() << "a function of integers on f32";
    return 0;
  }

  static float FloatBinary(BinaryFn fn, float x, float y) {
    switch (fn) {
      case BinaryFn::kAdd:
        return x + y;
      case BinaryFn::kSub:
        return x - y;
      case BinaryFn::kMul:
        return x * y;
      case BinaryFn::kDiv:
        return x / y;
      case BinaryFn::kRem:
        return std::fmod(x, y);
      case BinaryFn::kPow:
        return std::pow(x, y);
      case BinaryFn::kMax:
        return std::isnan(x) || x > y ? x : y;
      case BinaryFn::kMin:
        return std::isnan(x) || x < y ? x : y;
      default:
        ADD_FAILURE() << "a function of integers on f32";
        return 0;
    }
  }

  static int64_t IntBinary(BinaryFn fn, DType dtype, int64_t x, int64_t y) {
    const uint64_t ux = static_cast<uint64_t>(x);
    const uint64_t uy = static_cast<uint64_t>(y);
    switch (fn) {
      case BinaryFn::kAdd:
        return static_cast<int64_t>(ux + uy);
      case BinaryFn::kSub:
        return static_cast<int64_t>(ux - uy);
      case BinaryFn::kMul:
        return static_cast<int64_t>(ux * uy);
      case BinaryFn::kDiv:
      case BinaryFn::kRem:
        // Either would be a trap.
        EXPECT_NE(y, 0);
        EXPECT_NE(y, -1);
        if (y == 0 || y == -1) return 0;
        return fn == BinaryFn::kDiv ? x / y : x % y;
      case BinaryFn::kMax:
        return x > y ? x : y;
      case BinaryFn::kMin:
        return x < y ? x : y;
      case BinaryFn::kAnd:
        return x & y;
      case BinaryFn::kOr:
        return x | y;
      case BinaryFn::kXor:
        return x ^ y;
      case BinaryFn::kShiftLeft:
        return static_cast<int64_t>(ux << uy);
      case BinaryFn::kShiftRightLogical:
        EXPECT_EQ(dtype, DType::kI32);
        return static_cast<uint32_t>(x) >> y;
      case BinaryFn::kMulHigh:
        EXPECT_EQ(dtype, DType::kI32);
        return static_cast<int64_t>((ux & 0xffffffff) * (uy & 0xffffffff) >> 32);
      case BinaryFn::kPow:
        break;
    }
    ADD_FAILURE() << "a function of floats on " << DTypeName(dtype);
    return 0;
  }

  template <typename T>
  static bool Relation(CompareFn fn, T x, T y) {
    switch (fn) {
      case CompareFn::kEq:
        return x == y;
      case CompareFn::kNe:
        return x != y;
      case CompareFn::kLt:
        return x < y;
      case CompareFn::kLe:
        return x <= y;
      case CompareFn::kGt:
        return x > y;
      case CompareFn::kGe:
        return x >= y;
    }
    return false;
  }

  std::vector<Value> values_;
};

int64_t IntElement(const Literal& literal, int64_t i) {
  return literal.dtype() == DType::kI64 ? literal.data<int64_t>()[i]
                                        : static_cast<int64_t>(literal.AsDouble(i));
}

Literal Evaluate(const OpCase& op_case, const std::vector<Literal>& operands,
                 const TensorType& type) {
  const ir::OpDef& op = *FindOp(op_case.op);
  Literal y(type);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    EvaluatingBuilder builder;
    std::vector<Scalar> scalars;
    for (const Literal& operand : operands) {
      scalars.push_back(IsFloat(operand.dtype())
                            ? builder.Float(static_cast<float>(operand.AsDouble(i)))
                            : builder.Int(operand.dtype(), IntElement(operand, i)));
    }
    const Scalar result = op.scalar(builder, scalars, op_case.attributes);
    if (IsFloat(type.dtype)) {
      EXPECT_EQ(builder.TypeOf(result), DType::kF32) << op_case.name;
      y.SetDouble(i, builder.FloatOf(result));
    } else {
      EXPECT_EQ(builder.TypeOf(result), type.dtype) << op_case.name;
      if (type.dtype == DType::kI64) {
        y.data<int64_t>()[i] = builder.IntOf(result);
      } else {
        y.SetDouble(i, static_cast<double>(builder.IntOf(result)));
      }
    }
  }
  return y;
}

TEST(ScalarFormsTest, ComputeWhatTheReferenceComputes) {
  int compared = 0;
  for (const OpCase& op_case : AllOpCases()) {
    const ir::OpDef& op = *FindOp(op_case.op);
    if (op.traits.op_class != ir::OpClass::kElementwise || op_case.large) continue;
    ASSERT_NE(op.scalar, nullptr) << op_case.op;
    const std::vector<Literal> operands = MakeOperands(op_case);
    const auto want = RunReference(op_case, operands);
    ASSERT_TRUE(want.ok()) << want.status();
    const Literal got = Evaluate(op_case, operands, (*want)[0].type());
    const absl::Status close = CheckClose(got, (*want)[0], op_case.tolerance);
    EXPECT_TRUE(close.ok()) << op_case.name << ": " << close.message();
    ++compared;
  }
  EXPECT_GT(compared, 400);
}

TEST(ScalarFormsTest, OnlyElementwiseOpsHaveOne) {
  for (const ir::OpDef* op : AllOps()) {
    EXPECT_EQ(op->scalar != nullptr, op->traits.op_class == ir::OpClass::kElementwise) << op->name;
  }
}

}  // namespace
}  // namespace trencadis::ops
