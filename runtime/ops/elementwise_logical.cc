// Bitwise and logical functions, comparisons, select: what computes with bool.
#include <limits>

#include "runtime/base/status.h"
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

// Bool (logical) or integers (bitwise), all of one type.
absl::StatusOr<ir::TypeList> InferBits(Operands operands, const Attributes&) {
  if (IsFloat(operands[0].dtype)) return OperandError(operands, 0, "bool or an integer type");
  TRENCADIS_RETURN_IF_ERROR(RequireSameTypes(operands));
  return ir::TypeList{operands[0]};
}

absl::StatusOr<ir::TypeList> InferEquality(Operands operands, const Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireSameTypes(operands));
  return ir::TypeList{{DType::kBool, operands[0].shape}};
}

absl::StatusOr<ir::TypeList> InferOrder(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(InferNumbers(operands, attributes).status());
  return ir::TypeList{{DType::kBool, operands[0].shape}};
}

absl::StatusOr<ir::TypeList> InferIsFinite(Operands operands, const Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 0));
  return ir::TypeList{{DType::kBool, operands[0].shape}};
}

absl::StatusOr<ir::TypeList> InferSelect(Operands operands, const Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 0, {DType::kBool, operands[1].shape}));
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 2, operands[1]));
  return ir::TypeList{operands[1]};
}

Scalar IsFiniteScalar(ScalarBuilder& b, Args x, const Attributes&) {
  const Scalar largest = ScalarMath(b).Like(x[0], std::numeric_limits<float>::max());
  return b.Compare(CompareFn::kLe, b.Unary(ir::UnaryFn::kAbs, x[0]), largest);
}

Scalar SelectScalar(ScalarBuilder& b, Args x, const Attributes&) {
  return b.Select(x[0], x[1], x[2]);
}

constexpr ir::OpDef Bitwise(absl::string_view name, ir::ScalarFn scalar) {
  return {.name = name,
          .num_operands = 2,
          .traits = kCheapCommutative,
          .infer = InferBits,
          .scalar = scalar,
          .stops_gradient = true};
}

constexpr ir::OpDef Comparison(absl::string_view name, ir::OpTraits traits, ir::InferFn infer,
                               ir::ScalarFn scalar) {
  return {.name = name,
          .num_operands = 2,
          .traits = traits,
          .infer = infer,
          .scalar = scalar,
          .stops_gradient = true};
}

constexpr ir::OpDef kOps[] = {
    Bitwise("and", ScalarBinary<BinaryFn::kAnd>),
    Bitwise("or", ScalarBinary<BinaryFn::kOr>),
    Bitwise("xor", ScalarBinary<BinaryFn::kXor>),
    {.name = "not",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferBits,
     .scalar = ScalarUnary<ir::UnaryFn::kNot>,
     .stops_gradient = true},
    Comparison("eq", kCheapCommutative, InferEquality, ScalarCompare<CompareFn::kEq>),
    Comparison("ne", kCheapCommutative, InferEquality, ScalarCompare<CompareFn::kNe>),
    Comparison("lt", kCheapElementwise, InferOrder, ScalarCompare<CompareFn::kLt>),
    Comparison("le", kCheapElementwise, InferOrder, ScalarCompare<CompareFn::kLe>),
    Comparison("gt", kCheapElementwise, InferOrder, ScalarCompare<CompareFn::kGt>),
    Comparison("ge", kCheapElementwise, InferOrder, ScalarCompare<CompareFn::kGe>),
    {.name = "is_finite",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferIsFinite,
     .scalar = IsFiniteScalar,
     .stops_gradient = true},
    {.name = "select",
     .num_operands = 3,
     .traits = kCheapElementwise,
     .infer = InferSelect,
     .scalar = SelectScalar},
};

}  // namespace

OpTable LogicalOps() { return kOps; }

}  // namespace trencadis::ops
