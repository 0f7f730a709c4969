// SplitSumMatMul: a product whose long sum is added up from shorter ones, in order.
//
// oneDNN 2.6.3 shares out the sum of a transposed a with K >= 2048 (a weight's gradient) between
// threads, and the result depends on how many there are. Sums of at most kLongestSum terms it
// leaves whole.
#ifndef TRENCADIS_RUNTIME_CODEGEN_SPLIT_SUM_MATMUL_H_
#define TRENCADIS_RUNTIME_CODEGEN_SPLIT_SUM_MATMUL_H_

#include <memory>
#include <vector>

#include "runtime/codegen/matmul.h"
#include "runtime/kernels/vector_kernels.h"

namespace trencadis::codegen {

class SplitSumMatMul : public MatMul {
 public:
  static constexpr int64_t kLongestSum = 1024;

  static bool Takes(const MatMulSpec& spec);
  // `spec` is valid, not empty, one that it Takes, and its dtypes are ones that the host
  // multiplies.
  static absl::StatusOr<std::unique_ptr<MatMul>> Create(const MatMulSpec& spec,
                                                        const Target& target);

  int64_t scratchpad_bytes() const override { return product_offset_ + product_bytes_; }
  int64_t packed_b_bytes() const override;
  absl::Status PackB(const void* b, void* packed) const override;
  absl::Status Execute(const void* a, const void* b, void* c,
                       absl::Span<const void* const> operands, void* scratchpad) const override;

 private:
  // Terms [k, k + product->spec().k) of every sum.
  struct Piece {
    int64_t k;
    std::unique_ptr<MatMul> product;
    int64_t packed_offset;  // of its share of a packed b, in bytes
  };

  SplitSumMatMul(const MatMulSpec& spec, const Target& target);

  absl::Status AddPiece(int64_t k, int64_t length, const Target& target);
  // Applies the epilogue to a row of sums, counted over the batch.
  void FinishRow(const float* sums, int64_t row, absl::Span<const void* const> operands,
                 void* c) const;
  // Address of row `k` of op(b), of batch element `index`.
  const char* PieceOfB(const void* b, int64_t index, int64_t k) const;

  const kernels::VectorKernels& kernels_;
  int64_t lda_, ldb_;
  // Whether c itself collects the sums, or else f32 [batch, M, N] at the scratchpad's start.
  bool sums_in_c_;
  int64_t product_offset_;
  int64_t product_bytes_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_SPLIT_SUM_MATMUL_H_
