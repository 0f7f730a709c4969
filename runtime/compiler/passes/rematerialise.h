// Rematerialisation: a cheap value that is used again much later is computed again there.
//
// Only where it costs no memory: what the second computation reads lives until then anyway (or is
// an argument, or is small). A saved activation such as silu(gate) * up then dies after its first
// use, and the weight gradients recompute it from gate and up, which their own gradients need in
// any case. Products, reductions and composites are never repeated.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_REMATERIALISE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_REMATERIALISE_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

struct RematerialiseOptions {
  int64_t min_bytes = 32 << 10;  // smaller values are kept
  // Products and composites between two uses from which on the second is far.
  int32_t min_distance = 8;
  int32_t max_nodes = 24;  // of one recomputation
};

class Rematerialise final : public Pass {
 public:
  explicit Rematerialise(RematerialiseOptions options = {}) : options_(options) {}
  absl::string_view name() const override { return "rematerialise"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;

 private:
  RematerialiseOptions options_;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_REMATERIALISE_H_
