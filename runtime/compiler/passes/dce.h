// Dead code elimination: drops nodes that no output depends on. Inputs stay.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_DCE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_DCE_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

class Dce final : public Pass {
 public:
  absl::string_view name() const override { return "dce"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_DCE_H_
