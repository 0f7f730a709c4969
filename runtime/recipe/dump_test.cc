#include "runtime/recipe/dump.h"

#include "gtest/gtest.h"
#include "runtime/recipe/recipe_testing.h"

namespace trencadis::recipe {
namespace {

TEST(DumpRecipe, GoldenText) {
  EXPECT_EQ(DumpRecipe(SmallRecipe()),
            R"(recipe "small" for target a target
arena 128 bytes (live at most 0), constants 0 bytes, objects 1
  input 0: f32[4,4]
  input 1: f32[4,2]
  input 2: f32[4,2]
  input 3: f32[4,2]
  output 0: f32[4,2]
  output 1: f32[4,2]
  output 2: f32[4,2]
  output 1 takes over input 2
  output 2 is input 3
steps: 3, 0 flops, 0 bytes moved
  0: kernel exp over 8 (input 0) -> arena[0..64)  # exp
  1: matmul 4x2x4 f32*f32->f32 (arena[0..64), input 1) -> output 0  # product
  2: kernel update over 8 (input 2) -> output 1 scratch arena[64..128)  # update
)");
}

}  // namespace
}  // namespace trencadis::recipe
