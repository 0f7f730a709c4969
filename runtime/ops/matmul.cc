// Matrix products: c[..., m, n] = sum over k of a[..., m, k] b[..., k, n].
//
// B batch dimensions (any number), M rows of a, K inner, N columns of b.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;

absl::Status BadPair(Operands operands, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("operand 0 is ", operands[0].ToString(),
                                                 ", operand 1 is ", operands[1].ToString(), "; ",
                                                 what));
}

// Either b is one matrix for all of a's rows, or the batch dimensions are equal.
absl::Status CheckBatch(Operands operands, bool transpose_a) {
  const Shape& a = operands[0].shape;
  const Shape& b = operands[1].shape;
  if (a.rank() < 2 || b.rank() < 2) return BadPair(operands, "wanted at least rank 2 for both");
  if (b.rank() == 2) {
    if (transpose_a && a.rank() > 2) {
      return BadPair(operands, "with transpose_a a single matrix b needs an a of rank 2");
    }
    return absl::OkStatus();
  }
  const auto batch = [](const Shape& shape) {
    return absl::MakeConstSpan(shape.dims()).first(shape.rank() - 2);
  };
  if (batch(a) == batch(b)) return absl::OkStatus();
  return BadPair(operands, "the batch dimensions differ");
}

absl::StatusOr<ir::TypeList> InferMatmul(Operands operands, const Attributes& attributes) {
  const bool transpose_a = attributes.GetOr<bool>("transpose_a", false);
  const bool transpose_b = attributes.GetOr<bool>("transpose_b", false);
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 0));
  TRENCADIS_RETURN_IF_ERROR(RequireDType(operands, 1, operands[0].dtype));
  TRENCADIS_RETURN_IF_ERROR(CheckBatch(operands, transpose_a));
  const int64_t k_of_a = operands[0].shape.dim(transpose_a ? -2 : -1);
  const int64_t k_of_b = operands[1].shape.dim(transpose_b ? -1 : -2);
  if (k_of_a != k_of_b) {
    return BadPair(operands,
                   absl::StrCat("the inner dimensions ", k_of_a, " and ", k_of_b, " differ"));
  }
  std::vector<int64_t> dims = operands[0].shape.dims();
  dims[dims.size() - 2] = operands[0].shape.dim(transpose_a ? -1 : -2);
  dims.back() = operands[1].shape.dim(transpose_b ? -2 : -1);
  const DType dtype = attributes.GetOr<DType>("dtype", operands[0].dtype);
  if (!IsFloat(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), "; wanted f32 or bf16"));
  }
  return ir::TypeList{{dtype, Shape(std::move(dims))}};
}

constexpr ir::AttributeDef kAttributes[] = {{"transpose_a", AttributeKind::kBool, false},
                                            {"transpose_b", AttributeKind::kBool, false},
                                            {"dtype", AttributeKind::kDType, false}};

constexpr ir::OpDef kOps[] = {
    {.name = "matmul",
     .num_operands = 2,
     .attributes = kAttributes,
     .traits = {.op_class = ir::OpClass::kContraction},
     .infer = InferMatmul},
};

}  // namespace

OpTable MatmulOps() { return kOps; }

}  // namespace trencadis::ops
