// Legalisation: rewrites the few nodes that no step can do as they stand. Not optional.
//
//  - A product of f32 operands with a bf16 result becomes an f32 product and a conversion: the same
//    numbers, since an f32 result is the unrounded one.
//  - A product whose inner dimension is 0 becomes zeros.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_LEGALISE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_LEGALISE_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

class Legalise final : public Pass {
 public:
  absl::string_view name() const override { return "legalise"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_LEGALISE_H_
