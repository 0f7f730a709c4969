// FewRowsMatMul: a few rows against a large matrix stored [N, K], each of whose rows is read once.
//
// Reads b where it lies, at the memory's speed; the library needs a packed copy for half of that.
// Also computes products with nothing to sum (K = 0), which the library leaves undone.
#ifndef TRENCADIS_RUNTIME_CODEGEN_FEW_ROWS_MATMUL_H_
#define TRENCADIS_RUNTIME_CODEGEN_FEW_ROWS_MATMUL_H_

#include "runtime/codegen/epilogue.h"
#include "runtime/codegen/matmul.h"
#include "runtime/kernels/vector_kernels.h"

namespace trencadis::codegen {

class FewRowsMatMul : public MatMul {
 public:
  // More rows than this are left to the library.
  static constexpr int64_t kMostRows = 16;

  static bool Takes(const MatMulSpec& spec);
  // `spec` must be one that it Takes.
  FewRowsMatMul(MatMulSpec spec, const Target& target);

  int64_t scratchpad_bytes() const override { return 0; }
  absl::Status Execute(const void* a, const void* b, void* c,
                       absl::Span<const void* const> operands, void* scratchpad) const override;

 private:
  // A part of c of at most kMostRows rows and kBlockColumns columns.
  void ComputeBlock(const void* a, const void* b, void* c, absl::Span<const void* const> operands,
                    const MatMulBlock& block) const;

  const kernels::VectorKernels& kernels_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_FEW_ROWS_MATMUL_H_
