// Ops without operands.
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

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
     .stops_gradient = true},
    {.name = "iota",
     .attributes = kIotaAttributes,
     .traits = kGenerator,
     .infer = InferIota,
     .stops_gradient = true},
};

}  // namespace

OpTable GeneratorOps() { return kOps; }

}  // namespace trencadis::ops
