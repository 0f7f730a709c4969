// Checks that shape inference shares. Errors say what, got and wanted, without the op's name, which
// ir::InferTypes adds.
#ifndef TRENCADIS_RUNTIME_OPS_INFER_H_
#define TRENCADIS_RUNTIME_OPS_INFER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/ir/op_def.h"

namespace trencadis::ops {

using Operands = absl::Span<const TensorType>;

// "operand 1 is i32[3]; wanted `wanted`".
absl::Status OperandError(Operands operands, int index, absl::string_view wanted);

// f32 or bf16.
absl::Status RequireFloat(Operands operands, int index);
absl::Status RequireDType(Operands operands, int index, DType dtype);
absl::Status RequireRank(Operands operands, int index, int rank);
absl::Status RequireType(Operands operands, int index, const TensorType& type);
// Every operand has the type of operand 0.
absl::Status RequireSameTypes(Operands operands);
// Every operand has the shape of operand 0.
absl::Status RequireSameShapes(Operands operands);

// `axes` lie in [0, rank) and increase strictly.
absl::Status RequireIncreasingAxes(absl::string_view name, absl::Span<const int64_t> axes,
                                   int rank);
// 0 <= axis < rank.
absl::Status RequireAxis(int64_t axis, int rank);
// `values` has one entry per dimension.
absl::Status RequireLength(absl::string_view name, absl::Span<const int64_t> values, int rank);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_INFER_H_
