// Views: result element i is operand element f(i), f affine (or, for reshape, the row-major order).
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using Ints = std::vector<int64_t>;

absl::StatusOr<ir::TypeList> InferBroadcast(Operands operands, const Attributes& attributes) {
  const Ints& shape = attributes.Get<Ints>("shape");
  const Ints& axes = attributes.Get<Ints>("axes");
  const Ints& dims = operands[0].shape.dims();
  TRENCADIS_RETURN_IF_ERROR(RequireLength("axes", axes, operands[0].shape.rank()));
  TRENCADIS_RETURN_IF_ERROR(RequireIncreasingAxes("axes", axes, static_cast<int>(shape.size())));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (dims[i] == 1 || dims[i] == shape[axes[i]]) continue;
    return absl::InvalidArgumentError(absl::StrCat("dimension ", i, " of ", operands[0].ToString(),
                                                   " cannot become ", shape[axes[i]],
                                                   "; only a dimension of 1 is stretched"));
  }
  return ir::TypeList{{operands[0].dtype, Shape(shape)}};
}

absl::StatusOr<ir::TypeList> InferReshape(Operands operands, const Attributes& attributes) {
  const TensorType result = {operands[0].dtype, Shape(attributes.Get<Ints>("shape"))};
  TRENCADIS_RETURN_IF_ERROR(ir::CheckTensorType(result));
  if (result.shape.num_elements() != operands[0].shape.num_elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operands[0].ToString(), " has ", operands[0].shape.num_elements(), " elements; the shape ",
        result.shape.ToString(), " wants ", result.shape.num_elements()));
  }
  return ir::TypeList{result};
}

absl::StatusOr<ir::TypeList> InferTranspose(Operands operands, const Attributes& attributes) {
  const Ints& permutation = attributes.Get<Ints>("permutation");
  const int rank = operands[0].shape.rank();
  std::vector<bool> seen(rank, false);
  bool valid = permutation.size() == static_cast<size_t>(rank);
  for (int64_t axis : permutation) {
    valid = valid && axis >= 0 && axis < rank && !seen[axis];
    if (!valid) break;
    seen[axis] = true;
  }
  if (!valid) {
    return absl::InvalidArgumentError(absl::StrCat("permutation is [",
                                                   absl::StrJoin(permutation, ","),
                                                   "]; wanted each axis below ", rank, " once"));
  }
  Ints dims;
  for (int64_t axis : permutation) dims.push_back(operands[0].shape.dims()[axis]);
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferSlice(Operands operands, const Attributes& attributes) {
  const Ints& starts = attributes.Get<Ints>("starts");
  const Ints& limits = attributes.Get<Ints>("limits");
  const Ints& strides = attributes.Get<Ints>("strides");
  const int rank = operands[0].shape.rank();
  TRENCADIS_RETURN_IF_ERROR(RequireLength("starts", starts, rank));
  TRENCADIS_RETURN_IF_ERROR(RequireLength("limits", limits, rank));
  TRENCADIS_RETURN_IF_ERROR(RequireLength("strides", strides, rank));
  Ints dims;
  for (int i = 0; i < rank; ++i) {
    if (starts[i] < 0 || starts[i] > limits[i] || limits[i] > operands[0].shape.dim(i) ||
        strides[i] < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "slice ", starts[i], ":", limits[i], ":", strides[i], " of dimension ", i, " of ",
          operands[0].ToString(), "; wanted 0 <= start <= limit <= dimension and stride >= 1"));
    }
    const int64_t length = limits[i] - starts[i];
    dims.push_back(length / strides[i] + (length % strides[i] != 0));
  }
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferReverse(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(
      RequireIncreasingAxes("axes", attributes.Get<Ints>("axes"), operands[0].shape.rank()));
  return ir::TypeList{operands[0]};
}

constexpr ir::AttributeDef kBroadcastAttributes[] = {{"shape", AttributeKind::kInts},
                                                     {"axes", AttributeKind::kInts}};
constexpr ir::AttributeDef kReshapeAttributes[] = {{"shape", AttributeKind::kInts}};
constexpr ir::AttributeDef kTransposeAttributes[] = {{"permutation", AttributeKind::kInts}};
constexpr ir::AttributeDef kSliceAttributes[] = {{"starts", AttributeKind::kInts},
                                                 {"limits", AttributeKind::kInts},
                                                 {"strides", AttributeKind::kInts}};
constexpr ir::AttributeDef kReverseAttributes[] = {{"axes", AttributeKind::kInts}};

constexpr ir::OpTraits kView = {.op_class = ir::OpClass::kView, .cheap_to_recompute = true};

constexpr ir::OpDef kOps[] = {
    {.name = "broadcast",
     .num_operands = 1,
     .attributes = kBroadcastAttributes,
     .traits = kView,
     .infer = InferBroadcast},
    {.name = "reshape",
     .num_operands = 1,
     .attributes = kReshapeAttributes,
     .traits = kView,
     .infer = InferReshape},
    {.name = "transpose",
     .num_operands = 1,
     .attributes = kTransposeAttributes,
     .traits = kView,
     .infer = InferTranspose},
    {.name = "slice",
     .num_operands = 1,
     .attributes = kSliceAttributes,
     .traits = kView,
     .infer = InferSlice},
    {.name = "reverse",
     .num_operands = 1,
     .attributes = kReverseAttributes,
     .traits = kView,
     .infer = InferReverse},
};

}  // namespace

OpTable ViewOps() { return kOps; }

}  // namespace trencadis::ops
