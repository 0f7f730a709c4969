// RecipeProvider: where a context gets the executable for a graph: from a cache, or by compiling.
//
// The context names what it wants; the provider decides whether it is already there.
// Implementations are thread-safe: contexts on several threads share one.
#ifndef TRENCADIS_RUNTIME_LAZY_RECIPE_PROVIDER_H_
#define TRENCADIS_RUNTIME_LAZY_RECIPE_PROVIDER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/codegen/target.h"
#include "runtime/compiler/compiler.h"
#include "runtime/device/executable.h"
#include "runtime/ir/graph.h"

namespace trencadis::lazy {

// Everything that decides a recipe. Values that vary from step to step are inputs of the graph and
// not here.
struct RecipeRequest {
  const ir::Graph& graph;
  const compiler::CompileOptions& options;
  const codegen::Target& target;
};

class RecipeProvider {
 public:
  virtual ~RecipeProvider() = default;
  virtual absl::StatusOr<std::shared_ptr<const Executable>> GetOrCompile(
      const RecipeRequest& request) = 0;
};

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_RECIPE_PROVIDER_H_
