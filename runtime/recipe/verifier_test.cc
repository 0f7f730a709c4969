#include "runtime/recipe/verifier.h"

#include <functional>
#include <limits>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/recipe/object_symbols.h"
#include "runtime/recipe/recipe.h"
#include "runtime/recipe/recipe_testing.h"

namespace trencadis::recipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

TEST(VerifyRecipe, AcceptsAValidRecipe) {
  const absl::Status status = VerifyRecipe(SmallRecipe());
  EXPECT_TRUE(status.ok()) << status;
}

struct Damage {
  std::string message;  // part of the error
  std::function<void(RecipeProto&)> apply;
};

std::vector<Damage> Damages() {
  return {
      {"version 9", [](RecipeProto& r) { r.set_version(9); }},
      {"no target", [](RecipeProto& r) { r.clear_target(); }},
      {"alignment", [](RecipeProto& r) { r.set_arena_alignment(1); }},
      {"arena of", [](RecipeProto& r) { r.set_arena_bytes(kHuge); }},
      {"dtype 77", [](RecipeProto& r) { r.mutable_inputs(0)->set_dtype(77); }},
      {"dimension -1", [](RecipeProto& r) { r.mutable_inputs(0)->set_dims(0, -1); }},
      {"rank",
       [](RecipeProto& r) {
         for (int i = 0; i < 9; ++i) r.mutable_inputs(0)->add_dims(1);
       }},
      {"too large", [](RecipeProto& r) { r.mutable_inputs(0)->set_dims(0, int64_t{1} << 62); }},
      {"no such argument", [](RecipeProto& r) { r.mutable_donations(0)->set_input(12); }},
      {"sizes differ", [](RecipeProto& r) { r.mutable_donations(0)->set_input(0); }},
      {"already taken", [](RecipeProto& r) { r.mutable_passed_through(0)->set_input(2); }},
      {"ends outside",
       [](RecipeProto& r) { r.mutable_steps(0)->mutable_results(0)->set_offset(100); }},
      {"ends outside",
       [](RecipeProto& r) { r.mutable_steps(0)->mutable_operands(0)->set_offset(kHuge); }},
      {"ends outside",
       [](RecipeProto& r) {
         *r.mutable_steps(2)->add_operands() = Slice(BufferSlice::CONSTANT, 0, 0, 1);
       }},
      {"input 7 does not exist",
       [](RecipeProto& r) { r.mutable_steps(0)->mutable_operands(0)->set_index(7); }},
      {"packed copy 0 does not exist",
       [](RecipeProto& r) {
         *r.mutable_steps(2)->add_operands() = Slice(BufferSlice::PREPARED, 0, 0, 0);
       }},
      {"is in none of the objects", [](RecipeProto& r) { r.clear_objects(); }},
      {"defined twice", [](RecipeProto& r) { r.add_objects(r.objects(0)); }},
      {"object code is damaged", [](RecipeProto& r) { r.add_objects("no ELF"); }},
      {"no step has written",
       [](RecipeProto& r) { r.mutable_steps(0)->mutable_results(0)->set_offset(64); }},
      {"no step has written",
       [](RecipeProto& r) {
         // What scratch has covered is undefined.
         *r.mutable_steps(2)->mutable_operands(0) = Slice(BufferSlice::ARENA, 0, 0, 32);
         *r.mutable_steps(0)->mutable_scratch() = Slice(BufferSlice::ARENA, 0, 64, 64);
         *r.mutable_steps(1)->mutable_scratch() = Slice(BufferSlice::ARENA, 0, 64, 64);
         r.mutable_steps(2)->mutable_operands(0)->set_offset(64);
       }},
      {"no step has written",
       [](RecipeProto& r) {
         *r.mutable_steps(0)->mutable_operands(0) = Slice(BufferSlice::OUTPUT, 0, 0, 32);
       }},
      {"which is not donated",
       [](RecipeProto& r) {
         *r.mutable_steps(0)->mutable_results(0) = Slice(BufferSlice::INPUT, 0, 0, 64);
       }},
      {"read-only",
       [](RecipeProto& r) {
         r.set_constants(std::string(64, 'x'));
         *r.mutable_steps(0)->mutable_results(0) = Slice(BufferSlice::CONSTANT, 0, 0, 64);
       }},
      {"passed through",
       [](RecipeProto& r) {
         *r.mutable_steps(2)->mutable_results(0) = Slice(BufferSlice::OUTPUT, 2, 0, 32);
       }},
      {"is not written in full",
       [](RecipeProto& r) {
         r.clear_donations();
         r.mutable_steps()->RemoveLast();
       }},
      {"covers part of an operand",
       [](RecipeProto& r) {
         *r.mutable_steps(2)->mutable_operands(0) = Slice(BufferSlice::ARENA, 0, 0, 64);
         *r.mutable_steps(2)->add_results() = Slice(BufferSlice::ARENA, 0, 32, 16);
       }},
      {"overlaps scratch",
       [](RecipeProto& r) {
         r.mutable_steps(2)->mutable_scratch()->set_offset(0);
         *r.mutable_steps(2)->mutable_operands(0) = Slice(BufferSlice::ARENA, 0, 0, 64);
       }},
      {"scratch lies outside the arena",
       [](RecipeProto& r) {
         *r.mutable_steps(2)->mutable_scratch() = Slice(BufferSlice::INPUT, 2, 0, 32);
       }},
      {"results 0 and 1 overlap",
       [](RecipeProto& r) {
         *r.mutable_steps(0)->add_results() = Slice(BufferSlice::ARENA, 0, 0, 4);
       }},
      {"more per thread",
       [](RecipeProto& r) {
         r.mutable_steps(2)->mutable_kernel()->set_shared_scratch_bytes(kHuge - 3);
       }},
      {"is not aligned",
       [](RecipeProto& r) {
         r.mutable_steps(2)->mutable_kernel()->set_scratch_bytes_per_thread(1);
       }},
      {"units and grain",
       [](RecipeProto& r) {
         r.mutable_steps(0)->mutable_kernel()->mutable_stages(0)->set_grain(0);
       }},
      {"operand a has", [](RecipeProto& r) { r.mutable_steps(1)->mutable_matmul()->set_m(400); }},
      {"dimension",
       [](RecipeProto& r) {
         r.mutable_steps(1)->mutable_matmul()->set_batch(std::numeric_limits<int64_t>::max());
       }},
      {"post-op 'exec' is unknown",
       [](RecipeProto& r) {
         r.mutable_steps(1)->mutable_matmul()->add_post_ops()->set_kind("exec");
       }},
      {"wants operand 2",
       [](RecipeProto& r) {
         r.mutable_steps(1)->mutable_matmul()->add_post_ops()->set_kind("bias");
       }},
      {"no step has written",
       [](RecipeProto& r) {
         r.mutable_steps(1)->mutable_matmul()->add_post_ops()->set_kind("accumulate");
       }},
      {"packed_b and operand b",
       [](RecipeProto& r) { r.mutable_steps(1)->mutable_matmul()->set_packed_b(true); }},
      {"kind is unknown", [](RecipeProto& r) { r.mutable_steps(0)->clear_kernel(); }},
      {"got 1 operands; wanted 3",
       [](RecipeProto& r) {
         r.mutable_steps(0)->mutable_linear_cross_entropy()->set_vocabulary(3);
       }},
      {"without a name", [](RecipeProto& r) { r.mutable_steps(0)->mutable_builtin(); }},
      {"not a finite number",
       [](RecipeProto& r) {
         r.mutable_steps(0)->set_flops(std::numeric_limits<double>::infinity());
       }},
      {"lives in steps that do not exist",
       [](RecipeProto& r) { r.mutable_plan()->add_values()->set_last_step(3); }},
      {"lies outside the arena",
       [](RecipeProto& r) { r.mutable_plan()->add_values()->set_bytes(kHuge); }},
  };
}

TEST(VerifyRecipe, RefusesEachDamageByName) {
  for (const Damage& damage : Damages()) {
    RecipeProto recipe = SmallRecipe();
    damage.apply(recipe);
    const absl::Status status = VerifyRecipe(recipe);
    EXPECT_FALSE(status.ok()) << damage.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(damage.message));
  }
}

TEST(ParseRecipe, RoundTripsAndRefusesTruncation) {
  const std::string bytes = SerializeRecipe(SmallRecipe());
  EXPECT_EQ(bytes, SerializeRecipe(SmallRecipe()));
  const auto recipe = ParseRecipe(bytes);
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  EXPECT_EQ(SerializeRecipe(*recipe), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseRecipe(bytes.substr(0, size)).ok()) << size;
  }
}

// No damaged byte makes the reader crash; under sanitizers this also finds stray reads.
TEST(ParseRecipe, SurvivesRandomDamage) {
  const std::string bytes = SerializeRecipe(SmallRecipe());
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 1 + round % 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    refused += !ParseRecipe(damaged).ok();
  }
  EXPECT_GT(refused, 5000);
}

TEST(DefinedFunctions, ListsGlobalFunctionsAndSurvivesDamage) {
  const std::string object = ObjectDefining({"first", "second"});
  const auto names = DefinedFunctions(object);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("first", "second"));
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = object.substr(0, 1 + random() % object.size());
    damaged[random() % damaged.size()] = static_cast<char>(random());
    DefinedFunctions(damaged).IgnoreError();
  }
}

}  // namespace
}  // namespace trencadis::recipe
