// Bitwise and logical functions, comparisons, select: what computes with bool.
#include <cmath>
#include <functional>
#include <limits>

#include "runtime/base/status.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

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

int64_t And(int64_t x, int64_t y) { return x & y; }
int64_t Or(int64_t x, int64_t y) { return x | y; }
int64_t Xor(int64_t x, int64_t y) { return x ^ y; }

absl::StatusOr<Literals> NotReference(LiteralSpan x, const Attributes&,
                                      const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const int64_t value = IntAt(x[0], i);
    SetInt(y, i, y.dtype() == DType::kBool ? !value : ~value);
  }
  return Literals{std::move(y)};
}

template <template <typename> typename Relation>
absl::StatusOr<Literals> CompareReference(LiteralSpan x, const Attributes&,
                                          const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    y.data<bool>()[i] = IsFloat(x[0].dtype())
                            ? Relation<double>()(x[0].AsDouble(i), x[1].AsDouble(i))
                            : Relation<int64_t>()(IntAt(x[0], i), IntAt(x[1], i));
  }
  return Literals{std::move(y)};
}

absl::StatusOr<Literals> IsFiniteReference(LiteralSpan x, const Attributes&,
                                           const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    y.data<bool>()[i] = std::isfinite(x[0].AsDouble(i));
  }
  return Literals{std::move(y)};
}

absl::StatusOr<Literals> SelectReference(LiteralSpan x, const Attributes&,
                                         const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    CopyElement(x[0].data<bool>()[i] ? x[1] : x[2], i, y, i);
  }
  return Literals{std::move(y)};
}

absl::Status SelectVjp(ir::VjpContext& c) {
  const VjpMath m(c);
  const ir::Val dy = c.cotangent(0);
  const ir::Val zero = m.FullLike(dy, 0);
  if (c.NeedsGradient(1)) c.SetGradient(1, m.Select(c.operand(0), dy, zero));
  if (c.NeedsGradient(2)) c.SetGradient(2, m.Select(c.operand(0), zero, dy));
  return absl::OkStatus();
}

constexpr ir::OpDef Bitwise(absl::string_view name, ir::ReferenceFn reference,
                            ir::ScalarFn scalar) {
  return {.name = name,
          .num_operands = 2,
          .traits = kCheapCommutative,
          .infer = InferBits,
          .reference = reference,
          .scalar = scalar,
          .stops_gradient = true};
}

constexpr ir::OpDef Comparison(absl::string_view name, ir::OpTraits traits, ir::InferFn infer,
                               ir::ReferenceFn reference, ir::ScalarFn scalar) {
  return {.name = name,
          .num_operands = 2,
          .traits = traits,
          .infer = infer,
          .reference = reference,
          .scalar = scalar,
          .stops_gradient = true};
}

constexpr ir::OpDef kOps[] = {
    Bitwise("and", ReferenceInt2<And>, ScalarBinary<BinaryFn::kAnd>),
    Bitwise("or", ReferenceInt2<Or>, ScalarBinary<BinaryFn::kOr>),
    Bitwise("xor", ReferenceInt2<Xor>, ScalarBinary<BinaryFn::kXor>),
    {.name = "not",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferBits,
     .reference = NotReference,
     .scalar = ScalarUnary<ir::UnaryFn::kNot>,
     .stops_gradient = true},
    Comparison("eq", kCheapCommutative, InferEquality, CompareReference<std::equal_to>,
               ScalarCompare<CompareFn::kEq>),
    Comparison("ne", kCheapCommutative, InferEquality, CompareReference<std::not_equal_to>,
               ScalarCompare<CompareFn::kNe>),
    Comparison("lt", kCheapElementwise, InferOrder, CompareReference<std::less>,
               ScalarCompare<CompareFn::kLt>),
    Comparison("le", kCheapElementwise, InferOrder, CompareReference<std::less_equal>,
               ScalarCompare<CompareFn::kLe>),
    Comparison("gt", kCheapElementwise, InferOrder, CompareReference<std::greater>,
               ScalarCompare<CompareFn::kGt>),
    Comparison("ge", kCheapElementwise, InferOrder, CompareReference<std::greater_equal>,
               ScalarCompare<CompareFn::kGe>),
    {.name = "is_finite",
     .num_operands = 1,
     .traits = kCheapElementwise,
     .infer = InferIsFinite,
     .reference = IsFiniteReference,
     .scalar = IsFiniteScalar,
     .stops_gradient = true},
    {.name = "select",
     .num_operands = 3,
     .traits = kCheapElementwise,
     .infer = InferSelect,
     .reference = SelectReference,
     .scalar = SelectScalar,
     .vjp = SelectVjp,
     .vjp_reads_operands = 0b1,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable LogicalOps() { return kOps; }

}  // namespace trencadis::ops
