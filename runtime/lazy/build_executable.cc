#include "runtime/lazy/build_executable.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/env.h"
#include "runtime/base/status.h"
#include "runtime/device/reference_executable.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::lazy {
namespace {

std::shared_ptr<const Executable> Reference(const RecipeRequest& request) {
  std::vector<bool> donated;
  for (const compiler::ArgumentInfo& argument : request.options.arguments) {
    donated.push_back(argument.donated);
  }
  return MakeReferenceExecutable(request.graph, donated);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Executable>> BuildExecutable(const RecipeRequest& request) {
  const std::string mode = EnvString("HPU_EXEC", "compiled");
  if (mode == "reference") return Reference(request);
  if (mode != "compiled" && mode != "serialised") {
    return absl::InvalidArgumentError(
        absl::StrCat("HPU_EXEC is '", mode, "'; wanted compiled, serialised or reference"));
  }
  TRENCADIS_ASSIGN_OR_RETURN(recipe::RecipeProto recipe,
                             compiler::Compile(request.graph, request.options, request.target));
  if (mode == "serialised") {
    TRENCADIS_ASSIGN_OR_RETURN(recipe, recipe::ParseRecipe(recipe::SerializeRecipe(recipe)));
  }
  return Executable::Load(std::move(recipe), request.target);
}

}  // namespace trencadis::lazy
