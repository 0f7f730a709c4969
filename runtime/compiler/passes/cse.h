// Common subexpression elimination: nodes with equal op, operands and attributes become one.
//
// Barriers are never merged, so what is recomputed behind one stays recomputed.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_CSE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_CSE_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

class Cse final : public Pass {
 public:
  absl::string_view name() const override { return "cse"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_CSE_H_
