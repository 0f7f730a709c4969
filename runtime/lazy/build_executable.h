// BuildExecutable: what every RecipeProvider does on a miss.
#ifndef TRENCADIS_RUNTIME_LAZY_BUILD_EXECUTABLE_H_
#define TRENCADIS_RUNTIME_LAZY_BUILD_EXECUTABLE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/executable.h"
#include "runtime/lazy/recipe_provider.h"

namespace trencadis::lazy {

// Compiles and loads what `request` asks for. The environment's HPU_EXEC may ask for something else
// than "compiled": "serialised" loads the recipe from its bytes, "reference" gives an executable
// that interprets the graph. InvalidArgument for another value. Thread-safe.
absl::StatusOr<std::shared_ptr<const Executable>> BuildExecutable(const RecipeRequest& request);

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_BUILD_EXECUTABLE_H_
