// Constant folding: a node on constants becomes the constant that the op's reference computes.
//
// Only results of at most kMaxFoldedElements elements: larger ones cost more to store in a recipe
// than to compute.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_CONSTANT_FOLDING_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_CONSTANT_FOLDING_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

inline constexpr int64_t kMaxFoldedElements = 64;

class ConstantFolding final : public Pass {
 public:
  absl::string_view name() const override { return "constant_folding"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_CONSTANT_FOLDING_H_
