#include "runtime/ops/elementwise.h"

#include "runtime/base/status.h"

namespace trencadis::ops {

absl::StatusOr<ir::TypeList> InferFloats(Operands operands, const ir::Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 0));
  TRENCADIS_RETURN_IF_ERROR(RequireSameTypes(operands));
  return ir::TypeList{operands[0]};
}

absl::StatusOr<ir::TypeList> InferNumbers(Operands operands, const ir::Attributes&) {
  if (operands[0].dtype == DType::kBool) return OperandError(operands, 0, "a type of numbers");
  TRENCADIS_RETURN_IF_ERROR(RequireSameTypes(operands));
  return ir::TypeList{operands[0]};
}

}  // namespace trencadis::ops
