// VerifyRecipe: whether a recipe, from wherever it came, stays inside its own memory.
//
// After it returns OK, an executor may trust every index, offset and size in the recipe. It cannot
// vouch for object code: a recipe is as trustworthy as the place it was read from.
// Thread-safe.
#ifndef TRENCADIS_RUNTIME_RECIPE_VERIFIER_H_
#define TRENCADIS_RUNTIME_RECIPE_VERIFIER_H_

#include "absl/status/status.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::recipe {

// Checks, naming the first violation and the step it is in:
//  - version, types, donations, passed-through outputs and packed arguments are consistent;
//  - every slice lies in its space; steps write only the arena, outputs and donated arguments;
//  - a step's sizes agree with the bytes of its operands and results;
//  - every kernel's symbol is defined by one of the objects;
//  - no step reads arena or output bytes that no earlier step wrote (scratch leaves its bytes
//    undefined), and every output is written in full.
absl::Status VerifyRecipe(const RecipeProto& recipe);

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_VERIFIER_H_
