// The last projection of a language model together with its loss; logits are never stored.
//
// N rows (tokens), D width, V vocabulary. logits[n,v] = sum over d of x[n,d] w[v,d];
// lse[n] = log sum over v of exp(logits[n,v]). A row whose label is not ignore_index loses
//   (1 - e) (lse - logits[label]) + e (lse - mean over v of logits),  e = label_smoothing
// (torch.nn.functional.cross_entropy, reduction "sum"); an ignored row loses 0, its lse is 0, and
// no product is computed for it. Any other label outside [0, V) is a runtime error.
//
//   linear_cross_entropy(x [N,D], w [V,D], labels i32 [N]) -> loss_sum f32 [], lse f32 [N]
//   linear_cross_entropy_with_grad(the same) -> loss_sum, lse, dx [N,D] of x's dtype,
//     and, if needs_dw, dw f32 [V,D]: the derivatives of loss_sum.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;

absl::StatusOr<ir::TypeList> InferLoss(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 0));
  TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, 0, 2));
  TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, 1, 2));
  const int64_t rows = operands[0].shape.dim(0);
  const int64_t vocabulary = operands[1].shape.dim(0);
  if (vocabulary == 0) return OperandError(operands, 1, "at least one row");
  TRENCADIS_RETURN_IF_ERROR(
      RequireType(operands, 1, {operands[0].dtype, {vocabulary, operands[0].shape.dim(1)}}));
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 2, {DType::kI32, {rows}}));
  const double smoothing = attributes.GetOr<double>("label_smoothing", 0);
  if (!(smoothing >= 0 && smoothing <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("label_smoothing is ", smoothing, "; wanted 0 to 1"));
  }
  return ir::TypeList{{DType::kF32, Shape{}}, {DType::kF32, Shape{rows}}};
}

absl::StatusOr<ir::TypeList> InferLossWithGrad(Operands operands, const Attributes& attributes) {
  TRENCADIS_ASSIGN_OR_RETURN(ir::TypeList results, InferLoss(operands, attributes));
  results.push_back(operands[0]);
  if (attributes.Get<bool>("needs_dw")) results.push_back({DType::kF32, operands[1].shape});
  return results;
}

constexpr ir::AttributeDef kLossAttributes[] = {{"ignore_index", AttributeKind::kInt, false},
                                                {"label_smoothing", AttributeKind::kDouble, false}};
constexpr ir::AttributeDef kLossWithGradAttributes[] = {
    {"ignore_index", AttributeKind::kInt, false},
    {"label_smoothing", AttributeKind::kDouble, false},
    {"needs_dw", AttributeKind::kBool}};

constexpr ir::OpTraits kComposite = {.op_class = ir::OpClass::kComposite};

constexpr ir::OpDef kOps[] = {
    {.name = "linear_cross_entropy",
     .num_operands = 3,
     .attributes = kLossAttributes,
     .traits = kComposite,
     .infer = InferLoss},
    {.name = "linear_cross_entropy_with_grad",
     .num_operands = 3,
     .attributes = kLossWithGradAttributes,
     .traits = kComposite,
     .infer = InferLossWithGrad},
};

}  // namespace

OpTable LinearCrossEntropyOps() { return kOps; }

}  // namespace trencadis::ops
