// The emitter: a scheduled graph with storage, and its kernels, as a recipe.
#ifndef TRENCADIS_RUNTIME_COMPILER_EMITTER_H_
#define TRENCADIS_RUNTIME_COMPILER_EMITTER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/codegen/target.h"
#include "runtime/compiler/step_lowering.h"
#include "runtime/compiler/storage.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::compiler {

struct EmitRequest {
  const ir::Graph* graph = nullptr;
  absl::Span<const int32_t> steps;  // nodes, in the order in which they run
  std::vector<bool> frozen;         // by graph input: a product may read a packed copy
  const Storage* storage = nullptr;
};

// A product of more rows than this reads its frozen operand as it is: packing gains it little, and
// each number of rows may want its own copy.
inline constexpr int64_t kMaxPackedRows = 64;

// The whole recipe but for its name and compile time. `lowering` has compiled its kernels.
absl::StatusOr<recipe::RecipeProto> EmitRecipe(const EmitRequest& request, StepLowering& lowering,
                                               const codegen::Target& target);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_EMITTER_H_
