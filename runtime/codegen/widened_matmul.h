// WidenedMatMul: a bf16 product in f32 arithmetic, for hosts without bf16 products.
//
// Operands are widened into the scratchpad, the f32 product is the library's, and the result is
// rounded once. A packed b is the packed f32 copy.
#ifndef TRENCADIS_RUNTIME_CODEGEN_WIDENED_MATMUL_H_
#define TRENCADIS_RUNTIME_CODEGEN_WIDENED_MATMUL_H_

#include <memory>
#include <vector>

#include "runtime/codegen/matmul.h"
#include "runtime/kernels/vector_kernels.h"

namespace trencadis::codegen {

class WidenedMatMul : public MatMul {
 public:
  // `spec` is valid, not empty, and bf16.
  static absl::StatusOr<std::unique_ptr<MatMul>> Create(const MatMulSpec& spec,
                                                        const Target& target);

  int64_t scratchpad_bytes() const override { return scratchpad_bytes_; }
  int64_t packed_b_bytes() const override { return product_->packed_b_bytes(); }
  absl::Status PackB(const void* b, void* packed) const override;
  absl::Status Execute(const void* a, const void* b, void* c,
                       absl::Span<const void* const> operands, void* scratchpad) const override;

 private:
  WidenedMatMul(const MatMulSpec& spec, const Target& target, std::unique_ptr<MatMul> product);

  // Reserves room for `elements` f32 in the scratchpad; returns its offset in bytes.
  int64_t Reserve(int64_t elements);
  const float* Widen(const void* from, int64_t elements, float* to) const;
  void Round(const float* from, int64_t elements, void* to) const;

  const kernels::VectorKernels& kernels_;
  std::unique_ptr<MatMul> product_;
  int64_t a_elements_, b_elements_, c_elements_;
  int64_t a_offset_ = 0, b_offset_ = 0, c_offset_ = 0, product_offset_ = 0;
  std::vector<int64_t> operand_elements_;
  std::vector<int64_t> operand_offsets_;  // -1: passed as it is
  int64_t scratchpad_bytes_ = 0;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_WIDENED_MATMUL_H_
