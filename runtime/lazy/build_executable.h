// BuildExecutable: what every RecipeProvider does on a miss.
#ifndef TRENCADIS_RUNTIME_LAZY_BUILD_EXECUTABLE_H_
#define TRENCADIS_RUNTIME_LAZY_BUILD_EXECUTABLE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/executable.h"
#include "runtime/lazy/recipe_provider.h"

namespace trencadis::lazy {

// Compiles and loads what `request` asks for. With HPU_EXEC=reference in the environment, an
// executable that interprets the graph instead; InvalidArgument for another value than that or
// "compiled". Thread-safe.
absl::StatusOr<std::shared_ptr<const Executable>> BuildExecutable(const RecipeRequest& request);

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_BUILD_EXECUTABLE_H_
