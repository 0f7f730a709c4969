// The epilogue of products that our own code finishes.
#ifndef TRENCADIS_RUNTIME_CODEGEN_EPILOGUE_H_
#define TRENCADIS_RUNTIME_CODEGEN_EPILOGUE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/codegen/matmul.h"

namespace trencadis::codegen {

// A part of c, its rows counted over the whole batch.
struct MatMulBlock {
  int64_t row, rows, column, columns;
};

// Applies `spec`'s post-ops to `sums`, the f32 sums of `block` with `stride` elements from row to
// row, and writes them, rounded, to their place in `c`. Pure; blocks may be finished in parallel.
void FinishBlock(const MatMulSpec& spec, absl::Span<const void* const> operands, const float* sums,
                 int64_t stride, const MatMulBlock& block, void* c);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_EPILOGUE_H_
