// Whether a step's own numbers agree with the sizes of the slices it reads and writes.
//
// Pure and thread-safe; safe on hostile numbers (no product of them overflows).
#ifndef TRENCADIS_RUNTIME_RECIPE_STEP_CHECKS_H_
#define TRENCADIS_RUNTIME_RECIPE_STEP_CHECKS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::recipe {

// Bytes of a product's plain (not packed) operands and its result.
struct MatMulBytes {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
};

// The sizes of `matmul`'s tensors, or an error for impossible dimensions or dtypes.
absl::StatusOr<MatMulBytes> CheckMatMul(const MatMulStep& matmul);

// Checks number and bytes of operands, results and scratch. Of a kernel and of a builtin only what
// their messages say can be checked; their operands' sizes are fixed by their code.
absl::Status CheckStepSizes(const Step& step);

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_STEP_CHECKS_H_
