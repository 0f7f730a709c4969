// Ops whose data decide which elements they touch. An index out of range is a runtime error.
//
// V rows of a table, D... the dimensions of one row.
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;

absl::Status RequireIds(Operands operands, int index) {
  const DType dtype = operands[index].dtype;
  if (dtype == DType::kI32 || dtype == DType::kI64) return absl::OkStatus();
  return OperandError(operands, index, "i32 or i64 indices");
}

absl::StatusOr<ir::TypeList> InferTake(Operands operands, const Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireIds(operands, 1));
  if (operands[0].shape.rank() == 0) return OperandError(operands, 0, "at least rank 1");
  std::vector<int64_t> dims = operands[1].shape.dims();
  const auto& table = operands[0].shape.dims();
  dims.insert(dims.end(), table.begin() + 1, table.end());
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferScatterAdd(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireIds(operands, 0));
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 1));
  const auto& ids = operands[0].shape.dims();
  const auto& updates = operands[1].shape.dims();
  if (updates.size() < ids.size() || !std::equal(ids.begin(), ids.end(), updates.begin())) {
    return OperandError(
        operands, 1,
        absl::StrCat("a shape that starts with the ids', ", operands[0].shape.ToString()));
  }
  const DType dtype = attributes.GetOr<DType>("dtype", DType::kF32);
  if (!IsFloat(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), "; wanted f32 or bf16"));
  }
  std::vector<int64_t> dims = {attributes.Get<int64_t>("rows")};
  dims.insert(dims.end(), updates.begin() + ids.size(), updates.end());
  return ir::TypeList{{dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferArgmax(Operands operands, const Attributes& attributes) {
  if (operands[0].dtype == DType::kBool) return OperandError(operands, 0, "a type of numbers");
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  std::vector<int64_t> dims = operands[0].shape.dims();
  if (dims[axis] == 0 || dims[axis] > std::numeric_limits<int32_t>::max()) {
    return OperandError(operands, 0, absl::StrCat("1 to 2^31 - 1 elements along axis ", axis));
  }
  dims.erase(dims.begin() + axis);
  return ir::TypeList{{DType::kI32, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferDynamicSlice(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 1, {DType::kI32, Shape{}}));
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  const int64_t size = attributes.Get<int64_t>("size");
  std::vector<int64_t> dims = operands[0].shape.dims();
  if (size < 0 || size > dims[axis]) {
    return absl::InvalidArgumentError(absl::StrCat("size is ", size, "; wanted 0 to ", dims[axis],
                                                   ", dimension ", axis, " of ",
                                                   operands[0].ToString()));
  }
  dims[axis] = size;
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferDynamicUpdateSlice(Operands operands,
                                                     const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 2, {DType::kI32, Shape{}}));
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, 1, operands[0].shape.rank()));
  std::vector<int64_t> dims = operands[0].shape.dims();
  dims[axis] = std::min(dims[axis], operands[1].shape.dims()[axis]);
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 1, {operands[0].dtype, Shape(dims)}));
  return ir::TypeList{operands[0]};
}

constexpr ir::AttributeDef kScatterAttributes[] = {{"rows", AttributeKind::kInt},
                                                   {"dtype", AttributeKind::kDType, false}};
constexpr ir::AttributeDef kAxisAttributes[] = {{"axis", AttributeKind::kInt}};
constexpr ir::AttributeDef kDynamicSliceAttributes[] = {{"axis", AttributeKind::kInt},
                                                        {"size", AttributeKind::kInt}};

constexpr ir::OpTraits kIndexing = {.op_class = ir::OpClass::kIndexing};

constexpr ir::OpDef kOps[] = {
    {.name = "take", .num_operands = 2, .traits = kIndexing, .infer = InferTake},
    {.name = "scatter_add",
     .num_operands = 2,
     .attributes = kScatterAttributes,
     .traits = kIndexing,
     .infer = InferScatterAdd},
    {.name = "argmax",
     .num_operands = 1,
     .attributes = kAxisAttributes,
     .traits = kIndexing,
     .infer = InferArgmax,
     .stops_gradient = true},
    {.name = "dynamic_slice",
     .num_operands = 2,
     .attributes = kDynamicSliceAttributes,
     .traits = kIndexing,
     .infer = InferDynamicSlice},
    {.name = "dynamic_update_slice",
     .num_operands = 3,
     .attributes = kAxisAttributes,
     .traits = {.op_class = ir::OpClass::kIndexing, .updates_operand = true},
     .infer = InferDynamicUpdateSlice},
};

}  // namespace

OpTable IndexingOps() { return kOps; }

}  // namespace trencadis::ops
