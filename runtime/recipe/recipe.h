// Recipes as bytes, and the conversions between the proto's fields and the runtime's types.
//
// All functions are pure and thread-safe.
#ifndef TRENCADIS_RUNTIME_RECIPE_RECIPE_H_
#define TRENCADIS_RUNTIME_RECIPE_RECIPE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/core/shape.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::recipe {

// The version this build writes, and the only one it reads.
inline constexpr uint32_t kRecipeVersion = 1;
// Every value in the arena starts at a multiple of this.
inline constexpr uint64_t kArenaAlignment = 64;

TensorTypeProto ToProto(const TensorType& type);
// The type, or an error for an unknown dtype, a negative dimension, or more bytes than 2^48.
absl::StatusOr<TensorType> FromProto(const TensorTypeProto& proto);
absl::StatusOr<DType> DTypeFromProto(uint32_t dtype);

// Equal recipes give equal bytes.
std::string SerializeRecipe(const RecipeProto& recipe);
// Parses and verifies (see verifier.h).
absl::StatusOr<RecipeProto> ParseRecipe(absl::string_view bytes);

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_RECIPE_H_
