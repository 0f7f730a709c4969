#include "runtime/codegen/epilogue.h"

#include <cmath>

namespace trencadis::codegen {
namespace {

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

void FinishBlock(const MatMulSpec& spec, absl::Span<const void* const> operands, const float* sums,
                 int64_t stride, const MatMulBlock& block, void* c) {
  const int64_t ldc = spec.ldc != 0 ? spec.ldc : spec.n;
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) {
      const int64_t row = block.row + i;
      const int64_t column = block.column + j;
      const float x = ApplyPostOps(spec, operands, c, row, column, sums[i * stride + j]);
      Write(c, spec.c_dtype, row * ldc + column, x);
    }
  }
}

}  // namespace trencadis::codegen
