// Compiling and running a graph in a test, on memory that shows misuse: the arena starts as NaNs.
#ifndef TRENCADIS_RUNTIME_COMPILER_COMPILE_TESTING_H_
#define TRENCADIS_RUNTIME_COMPILER_COMPILE_TESTING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/compiler/compiler.h"
#include "runtime/core/literal.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::compiler {

// Runs `recipe`, after a round trip through bytes, on copies of `arguments`.
absl::StatusOr<std::vector<Literal>> RunRecipe(const recipe::RecipeProto& recipe,
                                               absl::Span<const Literal> arguments);

// Compiles for this machine, then RunRecipe.
absl::StatusOr<std::vector<Literal>> CompileAndRun(const ir::Graph& graph,
                                                   const CompileOptions& options,
                                                   absl::Span<const Literal> arguments);

// OK when all values have the same bits, signs of zeros and payloads of NaNs aside.
absl::Status CheckSameBits(absl::Span<const Literal> got, absl::Span<const Literal> want);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_COMPILE_TESTING_H_
