// Scaled dot-product attention with grouped heads, causal and windowed masks, and segments.
//
// Vaswani et al., "Attention is all you need", 2017, eq. 1; the gradient recomputes scores from the
// log-sum-exp as in Dao et al., "FlashAttention", 2022, algorithm 4. Letters: attention_shape.h.
//
//   attention(q [B,T,H,D], k [B,S,K,D], v [B,S,K,D], [q_segments i32 [B,T], kv_segments i32 [B,S]],
//             [q_offset i32 []]) -> out [B,T,H,D], lse f32 [B,H,T]
//   attention_grad(dout, q, k, v, out, lse, [q_segments, kv_segments], [q_offset]) -> dq, dk, dv
//
// Query head h reads key-value head h / (H/K). Query t sees key s iff
//   (!causal || s <= t + offset) && (window == 0 || s > t + offset - window)
//   && (!has_segments || q_segments[b,t] == kv_segments[b,s]).
// A query that sees nothing: out is 0, lse is -infinity, and no gradient flows.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/attention_reference.h"
#include "runtime/ops/attention_shape.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;

// Checks q, k, v at `first`.
absl::Status CheckProjections(Operands operands, int first) {
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, first));
  TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, first, 4));
  TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, first + 1, 4));
  const Shape& q = operands[first].shape;
  const Shape& k = operands[first + 1].shape;
  const TensorType k_type = {operands[first].dtype, {q.dim(0), k.dim(1), k.dim(2), q.dim(3)}};
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, first + 1, k_type));
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, first + 2, k_type));
  if (k.dim(2) == 0 || q.dim(2) % k.dim(2) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(q.dim(2), " query heads share ", k.dim(2),
                                                   " key-value heads; wanted a multiple"));
  }
  return absl::OkStatus();
}

// Checks what follows the tensors: segments and offset, as the flags say.
absl::Status CheckMasks(Operands operands, int first, const AttentionShape& shape) {
  const int wanted = first + (shape.has_segments ? 2 : 0) + (shape.has_offset ? 1 : 0);
  if (operands.size() != static_cast<size_t>(wanted)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "got ", operands.size(), " operands; has_segments and has_offset make it ", wanted));
  }
  if (shape.window < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("window is ", shape.window, "; wanted 0 (none) or more"));
  }
  if (shape.has_segments) {
    TRENCADIS_RETURN_IF_ERROR(
        RequireType(operands, first++, {DType::kI32, {shape.batch, shape.queries}}));
    TRENCADIS_RETURN_IF_ERROR(
        RequireType(operands, first++, {DType::kI32, {shape.batch, shape.keys}}));
  }
  if (shape.has_offset) {
    TRENCADIS_RETURN_IF_ERROR(RequireType(operands, first, {DType::kI32, Shape{}}));
  }
  return absl::OkStatus();
}

absl::Status RequireAtLeast(Operands operands, size_t count) {
  if (operands.size() >= count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("got ", operands.size(), " operands; wanted at least ", count));
}

absl::StatusOr<ir::TypeList> InferAttention(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireAtLeast(operands, 3));
  TRENCADIS_RETURN_IF_ERROR(CheckProjections(operands, 0));
  const auto shape = AttentionShape::Of(operands[0], operands[1], attributes);
  TRENCADIS_RETURN_IF_ERROR(CheckMasks(operands, 3, shape));
  return ir::TypeList{operands[0], shape.LseType()};
}

absl::StatusOr<ir::TypeList> InferAttentionGrad(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireAtLeast(operands, 6));
  TRENCADIS_RETURN_IF_ERROR(CheckProjections(operands, 1));
  const auto shape = AttentionShape::Of(operands[1], operands[2], attributes);
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 0, operands[1]));
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 4, operands[1]));
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 5, shape.LseType()));
  TRENCADIS_RETURN_IF_ERROR(CheckMasks(operands, 6, shape));
  return ir::TypeList{operands[1], operands[2], operands[3]};
}

absl::Status AttentionVjp(ir::VjpContext& c) {
  if (c.cotangent(1).valid()) {
    return absl::UnimplementedError(
        "attention: a gradient flows into lse, the second result; only out is differentiable");
  }
  std::vector<ir::Val> operands = {c.cotangent(0), c.operand(0), c.operand(1),
                                   c.operand(2),   c.result(0),  c.result(1)};
  for (int i = 3; i < c.num_operands(); ++i) operands.push_back(c.operand(i));
  const std::vector<ir::Val> gradients =
      c.builder().Emit("attention_grad", operands, c.attributes());
  for (size_t i = 0; i < gradients.size(); ++i) c.SetGradient(i, gradients[i]);
  return absl::OkStatus();
}

constexpr ir::AttributeDef kAttributes[] = {{"scale", AttributeKind::kDouble},
                                            {"causal", AttributeKind::kBool},
                                            {"window", AttributeKind::kInt, false},
                                            {"has_segments", AttributeKind::kBool, false},
                                            {"has_offset", AttributeKind::kBool, false}};

constexpr ir::OpTraits kComposite = {.op_class = ir::OpClass::kComposite};

constexpr ir::OpDef kOps[] = {
    {.name = "attention",
     .num_operands = -1,
     .attributes = kAttributes,
     .traits = kComposite,
     .infer = InferAttention,
     .reference = AttentionReference,
     .vjp = AttentionVjp},
    {.name = "attention_grad",
     .num_operands = -1,
     .attributes = kAttributes,
     .traits = kComposite,
     .infer = InferAttentionGrad,
     .reference = AttentionGradReference},
};

}  // namespace

OpTable AttentionOps() { return kOps; }

}  // namespace trencadis::ops
