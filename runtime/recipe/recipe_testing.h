// Small recipes and objects for tests.
#ifndef TRENCADIS_RUNTIME_RECIPE_RECIPE_TESTING_H_
#define TRENCADIS_RUNTIME_RECIPE_RECIPE_TESTING_H_

#include <string>
#include <vector>

#include "runtime/recipe/recipe.pb.h"

namespace trencadis::recipe {

// A relocatable ELF object whose symbol table defines `functions` (and which holds no code).
std::string ObjectDefining(const std::vector<std::string>& functions);

BufferSlice Slice(BufferSlice::Space space, uint32_t index, uint64_t offset, uint64_t bytes);

// A valid recipe: arena = kernel(input 0); output 0 = arena . input 1; input 2 is updated in place
// as output 1 with 64 bytes of scratch; output 2 is input 3.
RecipeProto SmallRecipe();

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_RECIPE_TESTING_H_
