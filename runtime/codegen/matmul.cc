#include "runtime/codegen/matmul.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/few_rows_matmul.h"
#include "runtime/codegen/library_matmul.h"
#include "runtime/codegen/split_sum_matmul.h"
#include "runtime/codegen/widened_matmul.h"

namespace trencadis::codegen {
namespace {

struct PostOpInfo {
  PostOpKind kind;
  absl::string_view name;
  bool takes_operand;
};

constexpr PostOpInfo kPostOps[] = {
    {PostOpKind::kScale, "scale", false},      {PostOpKind::kScaleBy, "scale_by", true},
    {PostOpKind::kBias, "bias", true},         {PostOpKind::kAdd, "add", true},
    {PostOpKind::kMul, "mul", true},           {PostOpKind::kRelu, "relu", false},
    {PostOpKind::kGeluErf, "gelu_erf", false}, {PostOpKind::kGeluTanh, "gelu_tanh", false},
    {PostOpKind::kSilu, "silu", false},        {PostOpKind::kAccumulate, "accumulate", false},
};

const PostOpInfo& InfoOf(PostOpKind kind) { return kPostOps[static_cast<int>(kind)]; }

absl::Status CheckStrides(const MatMulSpec& spec) {
  const int64_t a_columns = spec.transpose_a ? spec.m : spec.k;
  const int64_t b_columns = spec.transpose_b ? spec.k : spec.n;
  const bool dense = spec.lda == 0 && spec.ldb == 0 && spec.ldc == 0;
  if (spec.batch > 1 && !dense) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul ", spec.ToString(), ": a batch of matrices must be dense"));
  }
  if ((spec.lda != 0 && spec.lda < a_columns) || (spec.ldb != 0 && spec.ldb < b_columns) ||
      (spec.ldc != 0 && spec.ldc < spec.n)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "matmul ", spec.ToString(), ": row strides ", spec.lda, ", ", spec.ldb, ", ", spec.ldc,
        " of a, b, c must be 0 or at least ", a_columns, ", ", b_columns, ", ", spec.n));
  }
  return absl::OkStatus();
}

absl::Status Check(const MatMulSpec& spec) {
  if (spec.batch < 0 || spec.m < 0 || spec.n < 0 || spec.k < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul ", spec.ToString(), ": dimensions must not be negative"));
  }
  if (!IsFloat(spec.a_dtype) || spec.a_dtype != spec.b_dtype ||
      (spec.c_dtype != spec.a_dtype && spec.c_dtype != DType::kF32)) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul ", spec.ToString(),
                     ": a and b must both be f32 or both bf16, and c f32 or their type; convert "
                     "an operand first"));
  }
  if (spec.packed_b && spec.batched_b && spec.batch > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul ", spec.ToString(), ": only a b shared by the batch can be packed"));
  }
  for (size_t i = 1; i < spec.post_ops.size(); ++i) {
    if (spec.post_ops[i].kind == PostOpKind::kAccumulate) {
      return absl::InvalidArgumentError(absl::StrCat(
          "matmul ", spec.ToString(), ": accumulate must be the first post-op, it is number ", i));
    }
  }
  return CheckStrides(spec);
}

// Without batch where one product does the same.
MatMulSpec Normalized(MatMulSpec spec) {
  const bool rows_of_one = !spec.batched_b && !spec.transpose_a;
  if (spec.batch > 1 && (rows_of_one || spec.k == 0)) {
    spec.m *= spec.batch;
    spec.batch = 1;
  }
  if (spec.batch == 1) spec.batched_b = false;
  if (spec.k == 0) spec.packed_b = false;
  return spec;
}

// A product without elements, which the library refuses.
class EmptyMatMul : public MatMul {
 public:
  explicit EmptyMatMul(MatMulSpec spec) : MatMul(std::move(spec)) {}
  int64_t scratchpad_bytes() const override { return 0; }
  absl::Status PackB(const void*, void*) const override { return absl::OkStatus(); }
  absl::Status Execute(const void*, const void*, void*, absl::Span<const void* const>,
                       void*) const override {
    return absl::OkStatus();
  }
};

}  // namespace

absl::string_view PostOpName(PostOpKind kind) { return InfoOf(kind).name; }

absl::StatusOr<PostOpKind> ParsePostOp(absl::string_view name) {
  for (const PostOpInfo& info : kPostOps) {
    if (info.name == name) return info.kind;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown matmul post-op \"", name, "\""));
}

bool TakesOperand(PostOpKind kind) { return InfoOf(kind).takes_operand; }

std::string MatMulSpec::ToString() const {
  std::string text =
      absl::StrCat(batch == 1 ? "" : absl::StrCat(batch, "x"), m, "x", n, "x", k, " ",
                   DTypeName(a_dtype), "*", DTypeName(b_dtype), "->", DTypeName(c_dtype));
  if (transpose_a) text += " ta";
  if (transpose_b) text += " tb";
  if (batched_b) text += " batched_b";
  if (packed_b) text += " packed_b";
  if (lda != 0) absl::StrAppend(&text, " lda=", lda);
  if (ldb != 0) absl::StrAppend(&text, " ldb=", ldb);
  if (ldc != 0) absl::StrAppend(&text, " ldc=", ldc);
  for (const PostOp& post_op : post_ops) {
    absl::StrAppend(&text, " +", PostOpName(post_op.kind));
    if (post_op.kind == PostOpKind::kScale) absl::StrAppend(&text, "(", post_op.value, ")");
  }
  return text;
}

bool MatMul::WantsPackedB(const MatMulSpec& spec) {
  MatMulSpec plain = Normalized(spec);
  plain.packed_b = false;
  return plain.batch == 1 && !FewRowsMatMul::Takes(plain);
}

absl::Status MatMul::PackB(const void*, void*) const {
  return absl::FailedPreconditionError(
      absl::StrCat("matmul ", spec_.ToString(), " takes b as it is: nothing to pack"));
}

absl::StatusOr<std::unique_ptr<MatMul>> MatMul::Create(const MatMulSpec& requested,
                                                       const Target& target) {
  TRENCADIS_RETURN_IF_ERROR(Check(requested));
  const MatMulSpec spec = Normalized(requested);
  if (spec.batch * spec.m * spec.n == 0) return std::make_unique<EmptyMatMul>(spec);
  if (FewRowsMatMul::Takes(spec)) return std::make_unique<FewRowsMatMul>(spec, target);
  if (spec.a_dtype == DType::kBF16 && !SupportsBF16(target)) {
    return WidenedMatMul::Create(spec, target);
  }
  if (SplitSumMatMul::Takes(spec)) return SplitSumMatMul::Create(spec, target);
  return LibraryMatMul::Create(spec, target);
}

}  // namespace trencadis::codegen
