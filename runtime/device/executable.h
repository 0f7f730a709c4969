// Executable: a recipe made ready to run in this process.
//
// Loading checks the recipe (target, slices, symbols) and makes code and library products; running
// touches only the memory it is given. Immutable and thread-safe, but scratch and workspace belong
// to one run at a time.
#ifndef TRENCADIS_RUNTIME_DEVICE_EXECUTABLE_H_
#define TRENCADIS_RUNTIME_DEVICE_EXECUTABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/codegen/target.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis {

// The memory of one run: a base address per space of recipe::BufferSlice.
struct Bindings {
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
  std::vector<std::byte*> prepared;
  std::byte* arena = nullptr;
};

class Executable {
 public:
  // FailedPrecondition when the recipe was compiled for another target; InvalidArgument when it is
  // damaged.
  static absl::StatusOr<std::shared_ptr<const Executable>> Load(recipe::RecipeProto recipe,
                                                                const codegen::Target& target);
  ~Executable();

  const recipe::RecipeProto& recipe() const { return recipe_; }

  absl::Status Run(const Bindings& bindings) const;
  // Fills prepared copy `index` from its argument's bytes.
  absl::Status Prepare(int index, const std::byte* argument, std::byte* packed) const;

 private:
  struct Code;
  explicit Executable(recipe::RecipeProto recipe);

  recipe::RecipeProto recipe_;
  std::unique_ptr<Code> code_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_EXECUTABLE_H_
