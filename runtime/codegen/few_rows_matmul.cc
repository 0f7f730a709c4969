#include "runtime/codegen/few_rows_matmul.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trencadis::codegen {
namespace {

// Columns between two looks at the epilogue: their results stay in the first-level cache.
constexpr int64_t kBlockColumns = 64;
// Columns worth another thread, at 576 elements of f32 a column.
constexpr int64_t kLeastColumnsPerThread = 64;

// Element `index` of `data`, widened.
float Read(const void* data, DType dtype, int64_t index) {
  return dtype == DType::kF32 ? static_cast<const float*>(data)[index]
                              : ToF32(static_cast<const BF16*>(data)[index]);
}

void Write(void* data, DType dtype, int64_t index, float value) {
  if (dtype == DType::kF32) {
    static_cast<float*>(data)[index] = value;
  } else {
    static_cast<BF16*>(data)[index] = ToBF16(value);
  }
}

float GeluTanh(float x) {
  constexpr float kSqrt2OverPi = 0.79788456f;
  return 0.5f * x * (1.0f + std::tanh(kSqrt2OverPi * (x + 0.044715f * x * x * x)));
}

float GeluErf(float x) {
  constexpr float kSqrtHalf = 0.70710678f;
  return 0.5f * x * (1.0f + std::erf(x * kSqrtHalf));
}

// The epilogue of element (row, column) of c, whose f32 value so far is `x`.
float ApplyPostOps(const MatMulSpec& spec, absl::Span<const void* const> operands, const void* c,
                   int64_t row, int64_t column, float x) {
  size_t operand = 0;
  for (const PostOp& post_op : spec.post_ops) {
    const void* data = TakesOperand(post_op.kind) ? operands[operand++] : nullptr;
    switch (post_op.kind) {
      case PostOpKind::kScale:
        x *= static_cast<float>(post_op.value);
        break;
      case PostOpKind::kScaleBy:
        x *= *static_cast<const float*>(data);
        break;
      case PostOpKind::kBias:
        x += Read(data, spec.c_dtype, column);
        break;
      case PostOpKind::kAdd:
        x += Read(data, spec.c_dtype, row * spec.n + column);
        break;
      case PostOpKind::kMul:
        x *= Read(data, spec.c_dtype, row * spec.n + column);
        break;
      case PostOpKind::kRelu:
        x = x > 0 ? x : 0.0f;
        break;
      case PostOpKind::kGeluErf:
        x = GeluErf(x);
        break;
      case PostOpKind::kGeluTanh:
        x = GeluTanh(x);
        break;
      case PostOpKind::kSilu:
        x = x / (1.0f + std::exp(-x));
        break;
      case PostOpKind::kAccumulate:
        x += Read(c, spec.c_dtype, row * (spec.ldc != 0 ? spec.ldc : spec.n) + column);
        break;
    }
  }
  return x;
}

}  // namespace

bool FewRowsMatMul::Takes(const MatMulSpec& spec) {
  if (spec.batch != 1 || spec.packed_b) return false;
  return spec.k == 0 || (spec.m <= kMostRows && spec.transpose_b && !spec.transpose_a);
}

FewRowsMatMul::FewRowsMatMul(MatMulSpec spec, const Target& target)
    : MatMul(std::move(spec)),
      kernels_(kernels::VectorKernelsFor(target.cpu.c_str(), SupportsBF16(target))) {}

void FewRowsMatMul::ComputeBlock(const void* a, const void* b, void* c,
                                 absl::Span<const void* const> operands, const Block& block) const {
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
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) {
      const int64_t row = block.row + i;
      const int64_t column = block.column + j;
      const float x = ApplyPostOps(s, operands, c, row, column, sums[i * kBlockColumns + j]);
      Write(c, s.c_dtype, row * ldc + column, x);
    }
  }
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
