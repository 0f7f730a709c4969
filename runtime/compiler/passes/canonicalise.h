// Canonicalisation: one form for graphs that mean the same.
//
// Chains of views become one view, views that move nothing become reshapes or vanish, constants of
// equal elements become broadcast scalars, constant operands of commutative ops come second, and
// attributes that state their default are dropped.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_CANONICALISE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_CANONICALISE_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

class Canonicalise final : public Pass {
 public:
  absl::string_view name() const override { return "canonicalise"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_CANONICALISE_H_
