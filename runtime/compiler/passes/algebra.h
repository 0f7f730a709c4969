// Algebra: identities that hold bit for bit, and nothing else.
//
// x + 0 is not one of them for floats (-0 + 0 is +0), x + -0 is. Payload and sign of a NaN do not
// count as bits. A cancelled bf16 rounding does: convert(convert(x, bf16), f32) stays.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_ALGEBRA_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_ALGEBRA_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

class Algebra final : public Pass {
 public:
  absl::string_view name() const override { return "algebra"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_ALGEBRA_H_
