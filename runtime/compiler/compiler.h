// Compile: a graph to a recipe, for a target. Needs no device; thread-safe.
#ifndef TRENCADIS_RUNTIME_COMPILER_COMPILER_H_
#define TRENCADIS_RUNTIME_COMPILER_COMPILER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/codegen/target.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::compiler {

// What the caller promises about one argument.
struct ArgumentInfo {
  // Its storage may be taken over by an output or overwritten: nobody needs the old value.
  bool donated = false;
  // Its contents will never change while its buffer lives: products may use a packed copy of it.
  bool frozen = false;

  bool operator==(const ArgumentInfo&) const = default;
};

struct CompileOptions {
  std::string name;                     // region, for reports
  std::vector<ArgumentInfo> arguments;  // one per graph input; empty = all default
  std::vector<std::string> disabled_passes;
  // Every value in its own memory, every op its own step: for debugging and for the reference.
  bool optimize = true;
};

absl::StatusOr<recipe::RecipeProto> Compile(const ir::Graph& graph, const CompileOptions& options,
                                            const codegen::Target& target);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_COMPILER_H_
