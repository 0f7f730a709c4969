#include "runtime/ops/infer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace trencadis::ops {

absl::Status OperandError(Operands operands, int index, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("operand ", index, " is ", operands[index].ToString(), "; wanted ", wanted));
}

absl::Status RequireFloat(Operands operands, int index) {
  if (IsFloat(operands[index].dtype)) return absl::OkStatus();
  return OperandError(operands, index, "f32 or bf16");
}

absl::Status RequireDType(Operands operands, int index, DType dtype) {
  if (operands[index].dtype == dtype) return absl::OkStatus();
  return OperandError(operands, index, DTypeName(dtype));
}

absl::Status RequireRank(Operands operands, int index, int rank) {
  if (operands[index].shape.rank() == rank) return absl::OkStatus();
  return OperandError(operands, index, absl::StrCat("rank ", rank));
}

absl::Status RequireType(Operands operands, int index, const TensorType& type) {
  if (operands[index] == type) return absl::OkStatus();
  return OperandError(operands, index, type.ToString());
}

absl::Status RequireSameTypes(Operands operands) {
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i] == operands[0]) continue;
    return OperandError(operands, static_cast<int>(i),
                        absl::StrCat("the type of operand 0, ", operands[0].ToString()));
  }
  return absl::OkStatus();
}

absl::Status RequireSameShapes(Operands operands) {
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].shape == operands[0].shape) continue;
    return OperandError(operands, static_cast<int>(i),
                        absl::StrCat("the shape of operand 0, ", operands[0].shape.ToString()));
  }
  return absl::OkStatus();
}

absl::Status RequireIncreasingAxes(absl::string_view name, absl::Span<const int64_t> axes,
                                   int rank) {
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis <= previous || axis >= rank) {
      return absl::InvalidArgumentError(absl::StrCat(name, " are [", absl::StrJoin(axes, ","),
                                                     "]; wanted increasing axes below ", rank));
    }
    previous = axis;
  }
  return absl::OkStatus();
}

absl::Status RequireAxis(int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("axis is ", axis, "; wanted at least 0 and less than the rank, ", rank));
}

absl::Status RequireLength(absl::string_view name, absl::Span<const int64_t> values, int rank) {
  if (values.size() == static_cast<size_t>(rank)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has ", values.size(), " entries; wanted one per dimension, ", rank));
}

}  // namespace trencadis::ops
