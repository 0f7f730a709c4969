// Library rewrite: gives matrix products what the library does for free.
//
// Transposes of a product's operands become its flags, a conversion of its f32 result becomes its
// result type, and elementwise ops that follow become its epilogue: the product and its epilogue
// are then one fusion node, whose body starts with the product. Only what the library computes bit
// for bit as the graph says is folded: f32 results, with scale, bias, add, multiply and relu.
// Activations stay outside: the library approximates them in its own way.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_LIBRARY_REWRITE_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_LIBRARY_REWRITE_H_

#include "runtime/compiler/pass.h"

namespace trencadis::compiler {

class LibraryRewrite final : public Pass {
 public:
  absl::string_view name() const override { return "library_rewrite"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_LIBRARY_REWRITE_H_
