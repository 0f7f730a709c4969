#include "runtime/codegen/split_sum_matmul.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/codegen/epilogue.h"
#include "runtime/codegen/library_matmul.h"

namespace trencadis::codegen {
namespace {

constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

bool OnlyAccumulates(const MatMulSpec& spec) {
  return spec.post_ops.empty() ||
         (spec.post_ops.size() == 1 && spec.post_ops[0].kind == PostOpKind::kAccumulate);
}

}  // namespace

bool SplitSumMatMul::Takes(const MatMulSpec& spec) {
  // The lengths that the library may split.
  return spec.transpose_a && spec.k >= 2 * kLongestSum;
}

SplitSumMatMul::SplitSumMatMul(const MatMulSpec& s, const Target& target)
    : MatMul(s),
      kernels_(kernels::VectorKernelsFor(target.cpu.c_str(), SupportsBF16(target))),
      lda_(s.lda != 0 ? s.lda : s.m),
      ldb_(s.ldb != 0      ? s.ldb
           : s.transpose_b ? s.k
                           : s.n),
      sums_in_c_(s.c_dtype == DType::kF32 && OnlyAccumulates(s)),
      product_offset_(sums_in_c_ ? 0 : RoundUp(s.batch * s.m * s.n * sizeof(float), kAlignment)) {}

absl::StatusOr<std::unique_ptr<MatMul>> SplitSumMatMul::Create(const MatMulSpec& spec,
                                                               const Target& target) {
  auto matmul = std::unique_ptr<SplitSumMatMul>(new SplitSumMatMul(spec, target));
  for (int64_t k = 0; k < spec.k; k += kLongestSum) {
    TRENCADIS_RETURN_IF_ERROR(matmul->AddPiece(k, std::min(kLongestSum, spec.k - k), target));
  }
  return matmul;
}

absl::Status SplitSumMatMul::AddPiece(int64_t k, int64_t length, const Target& target) {
  MatMulSpec piece = spec();
  piece.batch = 1;
  piece.batched_b = false;
  piece.k = length;
  piece.c_dtype = DType::kF32;
  piece.lda = lda_;
  piece.ldb = ldb_;
  if (!sums_in_c_) piece.ldc = 0;
  const bool adds = k > 0 || (sums_in_c_ && !spec().post_ops.empty());
  piece.post_ops.clear();
  if (adds) piece.post_ops.push_back({PostOpKind::kAccumulate});
  TRENCADIS_ASSIGN_OR_RETURN(auto product, LibraryMatMul::Create(piece, target));
  product_bytes_ = std::max(product_bytes_, product->scratchpad_bytes());
  const int64_t packed_offset = packed_b_bytes();
  pieces_.push_back({k, std::move(product), packed_offset});
  return absl::OkStatus();
}

int64_t SplitSumMatMul::packed_b_bytes() const {
  if (pieces_.empty()) return 0;
  const Piece& last = pieces_.back();
  return last.packed_offset + RoundUp(last.product->packed_b_bytes(), kAlignment);
}

const char* SplitSumMatMul::PieceOfB(const void* b, int64_t index, int64_t k) const {
  const int64_t matrix = spec().batched_b ? index * spec().n * spec().k : 0;
  const int64_t element = matrix + (spec().transpose_b ? k : k * ldb_);
  return static_cast<const char*>(b) + element * ByteSize(spec().b_dtype);
}

absl::Status SplitSumMatMul::PackB(const void* b, void* packed) const {
  if (!spec().packed_b) return MatMul::PackB(b, packed);
  for (const Piece& piece : pieces_) {
    TRENCADIS_RETURN_IF_ERROR(piece.product->PackB(
        PieceOfB(b, 0, piece.k), static_cast<char*>(packed) + piece.packed_offset));
  }
  return absl::OkStatus();
}

void SplitSumMatMul::FinishRow(const float* sums, int64_t row,
                               absl::Span<const void* const> operands, void* c) const {
  const MatMulSpec& s = spec();
  if (!s.post_ops.empty() || s.c_dtype != DType::kBF16) {
    return FinishBlock(s, operands, sums, s.n, {row, 1, 0, s.n}, c);
  }
  const int64_t ldc = s.ldc != 0 ? s.ldc : s.n;
  kernels_.affine_bf16(sums, s.n, 1.0f, 0.0f, static_cast<uint16_t*>(c) + row * ldc);
}

absl::Status SplitSumMatMul::Execute(const void* a, const void* b, void* c,
                                     absl::Span<const void* const> operands,
                                     void* scratchpad) const {
  const MatMulSpec& s = spec();
  auto* sums = static_cast<float*>(sums_in_c_ ? c : scratchpad);
  void* products = static_cast<char*>(scratchpad) + product_offset_;
  for (int64_t i = 0; i < s.batch; ++i) {
    for (const Piece& piece : pieces_) {
      const void* piece_a =
          static_cast<const char*>(a) + (i * s.k + piece.k) * lda_ * ByteSize(s.a_dtype);
      const void* piece_b =
          s.packed_b ? static_cast<const char*>(b) + piece.packed_offset : PieceOfB(b, i, piece.k);
      TRENCADIS_RETURN_IF_ERROR(
          piece.product->Execute(piece_a, piece_b, sums + i * s.m * s.n, {}, products));
    }
  }
  if (sums_in_c_) return absl::OkStatus();
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < s.batch * s.m; ++row) {
    FinishRow(sums + row * s.n, row, operands, c);
  }
  return absl::OkStatus();
}

}  // namespace trencadis::codegen
