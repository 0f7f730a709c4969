#include "runtime/codegen/widened_matmul.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kBlockElements = 1 << 14;

// Elements from the first to past the last of a stored rows x columns matrix.
int64_t Extent(int64_t batch, int64_t rows, int64_t columns, int64_t stride) {
  return batch * rows * columns == 0
             ? 0
             : (batch * rows - 1) * (stride != 0 ? stride : columns) + columns;
}

// Calls fn(begin, count) on blocks of [0, elements), in parallel.
template <typename Fn>
void ForBlocks(int64_t elements, Fn fn) {
  const int64_t blocks = (elements + kBlockElements - 1) / kBlockElements;
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t begin = block * kBlockElements;
    fn(begin, std::min(kBlockElements, elements - begin));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MatMul>> WidenedMatMul::Create(const MatMulSpec& spec,
                                                              const Target& target) {
  MatMulSpec wide = spec;
  wide.a_dtype = wide.b_dtype = wide.c_dtype = DType::kF32;
  TRENCADIS_ASSIGN_OR_RETURN(auto product, MatMul::Create(wide, target));
  return std::unique_ptr<MatMul>(new WidenedMatMul(spec, target, std::move(product)));
}

WidenedMatMul::WidenedMatMul(const MatMulSpec& s, const Target& target,
                             std::unique_ptr<MatMul> product)
    : MatMul(s),
      kernels_(kernels::VectorKernelsFor(target.cpu.c_str(), false)),
      product_(std::move(product)),
      a_elements_(Extent(s.batch, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.lda)),
      b_elements_(Extent(s.batched_b ? s.batch : 1, s.transpose_b ? s.n : s.k,
                         s.transpose_b ? s.k : s.n, s.ldb)),
      c_elements_(Extent(s.batch, s.m, s.n, s.ldc)) {
  const bool rounds = s.c_dtype == DType::kBF16;
  a_offset_ = Reserve(a_elements_);
  b_offset_ = Reserve(s.packed_b ? 0 : b_elements_);
  c_offset_ = Reserve(rounds ? c_elements_ : 0);
  for (const PostOp& post_op : s.post_ops) {
    if (!TakesOperand(post_op.kind)) continue;
    const bool as_it_is = !rounds || post_op.kind == PostOpKind::kScaleBy;
    operand_elements_.push_back(post_op.kind == PostOpKind::kBias ? s.n : s.batch * s.m * s.n);
    operand_offsets_.push_back(as_it_is ? -1 : Reserve(operand_elements_.back()));
  }
  product_offset_ = scratchpad_bytes_;
  scratchpad_bytes_ += product_->scratchpad_bytes();
}

int64_t WidenedMatMul::Reserve(int64_t elements) {
  const int64_t offset = scratchpad_bytes_;
  const int64_t bytes = elements * static_cast<int64_t>(sizeof(float));
  scratchpad_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

const float* WidenedMatMul::Widen(const void* from, int64_t elements, float* to) const {
  const auto* bits = static_cast<const uint16_t*>(from);
  ForBlocks(elements, [&](int64_t begin, int64_t count) {
    kernels_.widen_bf16(bits + begin, count, to + begin);
  });
  return to;
}

void WidenedMatMul::Round(const float* from, int64_t elements, void* to) const {
  auto* bits = static_cast<uint16_t*>(to);
  ForBlocks(elements, [&](int64_t begin, int64_t count) {
    kernels_.affine_bf16(from + begin, count, 1.0f, 0.0f, bits + begin);
  });
}

absl::Status WidenedMatMul::PackB(const void* b, void* packed) const {
  if (!spec().packed_b) return MatMul::PackB(b, packed);
  std::vector<float> wide(b_elements_);
  return product_->PackB(Widen(b, b_elements_, wide.data()), packed);
}

absl::Status WidenedMatMul::Execute(const void* a, const void* b, void* c,
                                    absl::Span<const void* const> operands,
                                    void* scratchpad) const {
  auto* base = static_cast<char*>(scratchpad);
  const auto at = [base](int64_t offset) { return reinterpret_cast<float*>(base + offset); };
  const bool rounds = spec().c_dtype == DType::kBF16;
  const bool accumulates =
      !spec().post_ops.empty() && spec().post_ops[0].kind == PostOpKind::kAccumulate;
  std::vector<const void*> wide(operands.begin(), operands.end());
  for (size_t i = 0; i < wide.size(); ++i) {
    if (operand_offsets_[i] < 0) continue;
    wide[i] = Widen(operands[i], operand_elements_[i], at(operand_offsets_[i]));
  }
  const void* wide_a = Widen(a, a_elements_, at(a_offset_));
  const void* wide_b = spec().packed_b ? b : Widen(b, b_elements_, at(b_offset_));
  void* wide_c = rounds ? at(c_offset_) : c;
  // Rows with a stride have gaps, which rounding back must not change.
  if (rounds && (accumulates || spec().ldc != 0)) Widen(c, c_elements_, at(c_offset_));
  TRENCADIS_RETURN_IF_ERROR(
      product_->Execute(wide_a, wide_b, wide_c, wide, base + product_offset_));
  if (rounds) Round(at(c_offset_), c_elements_, c);
  return absl::OkStatus();
}

}  // namespace trencadis::codegen
