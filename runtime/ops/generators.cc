// Ops without operands.
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using Ints = std::vector<int64_t>;

absl::StatusOr<ir::TypeList> InferConstant(Operands, const Attributes& attributes) {
  return ir::TypeList{attributes.Get<ir::LiteralPtr>("value")->type()};
}

absl::StatusOr<ir::TypeList> InferIota(Operands, const Attributes& attributes) {
  const TensorType type = {attributes.Get<DType>("dtype"), Shape(attributes.Get<Ints>("shape"))};
  if (type.dtype == DType::kBool) {
    return absl::InvalidArgumentError("dtype is bool; wanted a type of numbers");
  }
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(attributes.Get<int64_t>("axis"), type.shape.rank()));
  return ir::TypeList{type};
}

absl::StatusOr<Literals> ConstantReference(LiteralSpan, const Attributes& attributes,
                                           const ir::TypeList&) {
  return Literals{*attributes.Get<ir::LiteralPtr>("value")};
}

absl::StatusOr<Literals> IotaReference(LiteralSpan, const Attributes& attributes,
                                       const ir::TypeList& results) {
  const int64_t axis = attributes.Get<int64_t>("axis");
  Literal y(results[0]);
  ForEachIndex(y.shape(), [&](absl::Span<const int64_t> index, int64_t flat) {
    if (IsFloat(y.dtype())) {
      y.SetDouble(flat, static_cast<double>(index[axis]));
    } else {
      SetInt(y, flat, index[axis]);
    }
  });
  return Literals{std::move(y)};
}

constexpr ir::AttributeDef kConstantAttributes[] = {{"value", AttributeKind::kLiteral}};
constexpr ir::AttributeDef kIotaAttributes[] = {{"dtype", AttributeKind::kDType},
                                                {"shape", AttributeKind::kInts},
                                                {"axis", AttributeKind::kInt}};

constexpr ir::OpTraits kGenerator = {.op_class = ir::OpClass::kGenerator,
                                     .cheap_to_recompute = true};

constexpr ir::OpDef kOps[] = {
    {.name = "constant",
     .attributes = kConstantAttributes,
     .traits = kGenerator,
     .infer = InferConstant,
     .reference = ConstantReference,
     .stops_gradient = true},
    {.name = "iota",
     .attributes = kIotaAttributes,
     .traits = kGenerator,
     .infer = InferIota,
     .reference = IotaReference,
     .stops_gradient = true},
};

}  // namespace

OpTable GeneratorOps() { return kOps; }

}  // namespace trencadis::ops
