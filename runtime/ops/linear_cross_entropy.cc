// The last projection of a language model together with its loss; logits are never stored.
//
// N rows (tokens), D width, V vocabulary. logits[n,v] = sum over d of x[n,d] w[v,d];
// lse[n] = log sum over v of exp(logits[n,v]). A row whose label is not ignore_index loses
//   (1 - e) (lse - logits[label]) + e (lse - mean over v of logits),  e = label_smoothing
// (torch.nn.functional.cross_entropy, reduction "sum"); an ignored row loses 0, its lse is 0, and
// no product is computed for it. Any other label outside [0, V) is a runtime error.
//
//   linear_cross_entropy(x [N,D], w [V,D], labels i32 [N]) -> loss_sum f32 [], lse f32 [N],
//     correct i32 []: how many rows that are not ignored have their label as argmax of the logits
//   linear_cross_entropy_with_grad(the same) -> loss_sum, lse, dx [N,D] of x's dtype,
//     and, if needs_dw, dw f32 [V,D]: the derivatives of loss_sum.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/linear_cross_entropy_reference.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;

// Of the results that both ops have.
absl::StatusOr<ir::TypeList> InferCommon(Operands operands, const Attributes& attributes) {
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

absl::StatusOr<ir::TypeList> InferLoss(Operands operands, const Attributes& attributes) {
  TRENCADIS_ASSIGN_OR_RETURN(ir::TypeList results, InferCommon(operands, attributes));
  results.push_back({DType::kI32, Shape{}});
  return results;
}

absl::StatusOr<ir::TypeList> InferLossWithGrad(Operands operands, const Attributes& attributes) {
  TRENCADIS_ASSIGN_OR_RETURN(ir::TypeList results, InferCommon(operands, attributes));
  results.push_back(operands[0]);
  if (attributes.Get<bool>("needs_dw")) results.push_back({DType::kF32, operands[1].shape});
  return results;
}

absl::Status RefuseLseGradient(ir::VjpContext& c) {
  if (!c.cotangent(1).valid()) return absl::OkStatus();
  return absl::UnimplementedError(
      "linear_cross_entropy: a gradient flows into lse, the second result; only the loss is "
      "differentiable");
}

// dloss times a derivative of loss_sum, in the operand's dtype.
void SetScaled(ir::VjpContext& c, int operand, ir::Val derivative) {
  const VjpMath m(c);
  const ir::Val scale = m.Broadcast(c.cotangent(0), c.builder().TypeOf(derivative).shape, {});
  const ir::Val product = m.Mul(m.Convert(derivative, DType::kF32), scale);
  c.SetGradient(operand, m.Convert(product, c.builder().TypeOf(c.operand(operand)).dtype));
}

// Computes the loss again together with its derivatives. Whoever knows beforehand that a gradient
// will be asked for uses linear_cross_entropy_with_grad in the first place.
absl::Status LossVjp(ir::VjpContext& c) {
  TRENCADIS_RETURN_IF_ERROR(RefuseLseGradient(c));
  Attributes attributes = c.attributes();
  attributes.Set("needs_dw", c.NeedsGradient(1));
  const std::vector<ir::Val> results =
      c.builder().Emit("linear_cross_entropy_with_grad", {c.operand(0), c.operand(1), c.operand(2)},
                       std::move(attributes));
  if (results.empty()) return absl::OkStatus();  // the builder reports why
  if (c.NeedsGradient(0)) SetScaled(c, 0, results[2]);
  if (c.NeedsGradient(1)) SetScaled(c, 1, results[3]);
  return absl::OkStatus();
}

absl::Status LossWithGradVjp(ir::VjpContext& c) {
  TRENCADIS_RETURN_IF_ERROR(RefuseLseGradient(c));
  if (!c.cotangent(0).valid()) {
    return absl::UnimplementedError(
        "linear_cross_entropy_with_grad: a gradient flows into a derivative; only the loss is "
        "differentiable");
  }
  if (c.NeedsGradient(0)) SetScaled(c, 0, c.result(2));
  if (!c.NeedsGradient(1)) return absl::OkStatus();
  if (!c.attributes().Get<bool>("needs_dw")) {
    return absl::FailedPreconditionError(
        "linear_cross_entropy_with_grad: w needs a gradient and needs_dw is false");
  }
  SetScaled(c, 1, c.result(3));
  return absl::OkStatus();
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
     .infer = InferLoss,
     .reference = LinearCrossEntropyReference,
     .vjp = LossVjp,
     .vjp_reads_results = 0},
    {.name = "linear_cross_entropy_with_grad",
     .num_operands = 3,
     .attributes = kLossWithGradAttributes,
     .traits = kComposite,
     .infer = InferLossWithGrad,
     .reference = LinearCrossEntropyReference,
     .vjp = LossWithGradVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0b1100},
};

}  // namespace

OpTable LinearCrossEntropyOps() { return kOps; }

}  // namespace trencadis::ops
