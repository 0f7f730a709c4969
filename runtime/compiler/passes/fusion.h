// Fusion: elementwise ops, views, generators and reductions become fusion nodes, one kernel each.
//
// Afterwards the graph has only fusion nodes, nodes with kernels or library calls of their own, and
// reshapes and constants that those read. Nodes are in the order of the groups' positions (see
// fusion_groups.h).
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_H_

#include "runtime/compiler/pass.h"
#include "runtime/compiler/passes/fusion_groups.h"

namespace trencadis::compiler {

class Fusion final : public Pass {
 public:
  explicit Fusion(FusionLimits limits = {}) : limits_(limits) {}
  absl::string_view name() const override { return "fusion"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;

 private:
  FusionLimits limits_;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_H_
