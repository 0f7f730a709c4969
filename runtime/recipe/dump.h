// A recipe as readable text, for people and for golden tests.
#ifndef TRENCADIS_RUNTIME_RECIPE_DUMP_H_
#define TRENCADIS_RUNTIME_RECIPE_DUMP_H_

#include <string>

#include "runtime/recipe/recipe.pb.h"

namespace trencadis::recipe {

// "arena[64..128)", "input 3", "output 0[16..32)". A slice of a whole argument has no range.
std::string SliceText(const RecipeProto& recipe, const BufferSlice& slice);

// "matmul 4x8x16 f32*f32->f32 +bias", "kernel k12 over 64".
std::string KindText(const Step& step);

// Arguments, memory, then one line per step.
std::string DumpRecipe(const RecipeProto& recipe);

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_DUMP_H_
