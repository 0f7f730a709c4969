#include "runtime/codegen/few_rows_matmul.h"

#include <algorithm>
#include <utility>

namespace trencadis::codegen {
namespace {

// Columns between two looks at the epilogue: their results stay in the first-level cache.
constexpr int64_t kBlockColumns = 64;
// Columns worth another thread, at 576 elements of f32 a column.
constexpr int64_t kLeastColumnsPerThread = 64;

}  // namespace

bool FewRowsMatMul::Takes(const MatMulSpec& spec) {
  if (spec.batch != 1 || spec.packed_b) return false;
  return spec.k == 0 || (spec.m <= kMostRows && spec.transpose_b && !spec.transpose_a);
}

FewRowsMatMul::FewRowsMatMul(MatMulSpec spec, const Target& target)
    : MatMul(std::move(spec)),
      kernels_(kernels::VectorKernelsFor(target.cpu.c_str(), SupportsBF16(target))) {}

void FewRowsMatMul::ComputeBlock(const void* a, const void* b, void* c,
                                 absl::Span<const void* const> operands,
                                 const MatMulBlock& block) const {
  const MatMulSpec& s = spec();
  const int64_t lda = s.lda != 0 ? s.lda : s.k;
  const int64_t ldb = s.ldb != 0 ? s.ldb : s.k;
  const int64_t ldc = s.ldc != 0 ? s.ldc : s.n;
  float sums[kMostRows * kBlockColumns];
  if (s.a_dtype == DType::kF32) {
    kernels_.row_products_f32(static_cast<const float*>(a) + block.row * lda, lda,
                              static_cast<const float*>(b) + block.column * ldb, ldb, sums,
                              kBlockColumns, block.rows, block.columns, s.k);
  } else {
    kernels_.row_products_bf16(static_cast<const uint16_t*>(a) + block.row * lda, lda,
                               static_cast<const uint16_t*>(b) + block.column * ldb, ldb, sums,
                               kBlockColumns, block.rows, block.columns, s.k);
  }
  FinishBlock(s, operands, sums, kBlockColumns, block, c);
}

absl::Status FewRowsMatMul::Execute(const void* a, const void* b, void* c,
                                    absl::Span<const void* const> operands, void*) const {
  const int64_t m = spec().m;
  const int64_t n = spec().n;
  const int64_t column_blocks = (n + kBlockColumns - 1) / kBlockColumns;
  const int64_t blocks = (m + kMostRows - 1) / kMostRows * column_blocks;
#pragma omp parallel for schedule(static) if (n >= 2 * kLeastColumnsPerThread)
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t row = i / column_blocks * kMostRows;
    const int64_t column = i % column_blocks * kBlockColumns;
    ComputeBlock(a, b, c, operands,
                 {row, std::min(kMostRows, m - row), column, std::min(kBlockColumns, n - column)});
  }
  return absl::OkStatus();
}

}  // namespace trencadis::codegen
