// Executable: something that runs in this process as its recipe says: which arguments it takes,
// which outputs it gives, which of them share memory, how much workspace it needs.
//
// Running touches only the memory that is given. Immutable and thread-safe, but scratch and
// workspace belong to one run at a time.
#ifndef TRENCADIS_RUNTIME_DEVICE_EXECUTABLE_H_
#define TRENCADIS_RUNTIME_DEVICE_EXECUTABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  // The recipe's compiled code. Checks the recipe (target, slices, symbols) and makes code and
  // library products. FailedPrecondition when it was compiled for another target; InvalidArgument
  // when it is damaged.
  static absl::StatusOr<std::shared_ptr<const Executable>> Load(recipe::RecipeProto recipe,
                                                                const codegen::Target& target);
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const recipe::RecipeProto& recipe() const { return recipe_; }

  virtual absl::Status Run(const Bindings& bindings) const = 0;
  // Fills prepared copy `index` from its argument's bytes.
  virtual absl::Status Prepare(int index, const std::byte* argument, std::byte* packed) const = 0;

 protected:
  explicit Executable(recipe::RecipeProto recipe) : recipe_(std::move(recipe)) {}

 private:
  const recipe::RecipeProto recipe_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_EXECUTABLE_H_
