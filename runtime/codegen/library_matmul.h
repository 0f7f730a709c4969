// LibraryMatMul: a product by oneDNN.
//
// Equal specs share one primitive in the process. The scratchpad is always the caller's: a
// primitive used by two threads with the library's own computes wrong results (oneDNN 2.6.3).
#ifndef TRENCADIS_RUNTIME_CODEGEN_LIBRARY_MATMUL_H_
#define TRENCADIS_RUNTIME_CODEGEN_LIBRARY_MATMUL_H_

#include <memory>

#include "runtime/codegen/matmul.h"

namespace trencadis::codegen {

class LibraryMatMul : public MatMul {
 public:
  // `spec` is valid, not empty, and its dtypes are ones that the host multiplies. The scratchpad's
  // size holds for teams of target.threads threads.
  static absl::StatusOr<std::unique_ptr<MatMul>> Create(const MatMulSpec& spec,
                                                        const Target& target);

  int64_t scratchpad_bytes() const override;
  int64_t packed_b_bytes() const override;
  absl::Status PackB(const void* b, void* packed) const override;
  absl::Status Execute(const void* a, const void* b, void* c,
                       absl::Span<const void* const> operands, void* scratchpad) const override;

 private:
  class Primitive;

  LibraryMatMul(MatMulSpec spec, std::shared_ptr<Primitive> primitive);

  std::shared_ptr<Primitive> primitive_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LIBRARY_MATMUL_H_
