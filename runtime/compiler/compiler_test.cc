#include "runtime/compiler/compiler.h"

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/codegen/target.h"
#include "runtime/compiler/compile_testing.h"
#include "runtime/compiler/testing.h"
#include "runtime/compiler/training_graph.h"
#include "runtime/ops/close.h"
#include "runtime/ops/interpreter.h"
#include "runtime/recipe/recipe.h"
#include "runtime/recipe/verifier.h"

namespace trencadis::compiler {
namespace {

using ::testing::HasSubstr;

recipe::RecipeProto CompileText(absl::string_view text, const CompileOptions& options = {}) {
  const auto recipe = Compile(GraphFrom(text), options, codegen::Target::Host());
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  if (!recipe.ok()) return {};
  const absl::Status status = recipe::VerifyRecipe(*recipe);
  EXPECT_TRUE(status.ok()) << status;
  return *recipe;
}

constexpr absl::string_view kUpdate = R"(graph {
  %p = input() : f32[64]
  %g = input() : f32[64]
  %q = sub(%p, %g)
  return %q
})";

TEST(Compile, UpdatesADonatedArgumentInPlace) {
  CompileOptions options;
  options.arguments = {{.donated = true}, {}};
  const recipe::RecipeProto recipe = CompileText(kUpdate, options);
  ASSERT_EQ(recipe.donations_size(), 1);
  EXPECT_EQ(recipe.donations(0).input(), 0u);
  EXPECT_EQ(recipe.arena_bytes(), 0u);
  EXPECT_EQ(CompileText(kUpdate).donations_size(), 0);
  options.optimize = false;
  EXPECT_EQ(CompileText(kUpdate, options).donations_size(), 0);
}

TEST(Compile, KeepsADonatedArgumentThatIsReadLater) {
  CompileOptions options;
  options.arguments = {{.donated = true}, {}};
  // The product reads p after q is made, but q could wait: it does, and is made in p's memory.
  const recipe::RecipeProto recipe = CompileText(R"(graph {
    %p = input() : f32[8,8]
    %g = input() : f32[8,8]
    %q = sub(%p, %g)
    %r = matmul(%p, %g)
    return %q, %r
  })",
                                                 options);
  ASSERT_EQ(recipe.donations_size(), 1);
  EXPECT_TRUE(recipe.steps(0).has_matmul());
  // Here q is needed for the product, so it cannot wait, and p cannot lend its memory to q.
  const recipe::RecipeProto other = CompileText(R"(graph {
    %p = input() : f32[8,8]
    %g = input() : f32[8,8]
    %q = sub(%p, %g)
    %r = matmul(%p, %q)
    return %q, %r
  })",
                                                options);
  EXPECT_EQ(other.donations_size(), 0);
}

TEST(Compile, OutputsThatAreNotComputed) {
  const recipe::RecipeProto recipe = CompileText(R"(graph {
    %x = input() : f32[2,3]
    %flat = reshape(%x){shape=[6]}
    %c = constant(){value=f32[2] {1.0, 2.0}}
    %y = exp(%x)
    return %x, %flat, %c, %y, %y
  })");
  EXPECT_EQ(recipe.passed_through_size(), 1);
  const std::vector<Literal> x = {Literal::FromVector<float>({2, 3}, {0, 1, 2, 3, 4, 5})};
  const auto results = RunRecipe(recipe, x);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0], x[0]);
  EXPECT_EQ((*results)[1], Literal::FromVector<float>({6}, {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ((*results)[2], Literal::FromVector<float>({2}, {1, 2}));
  EXPECT_EQ((*results)[3], (*results)[4]);
}

// A cache that is updated in place and then read.
TEST(Compile, UpdatesACacheInPlace) {
  constexpr absl::string_view kText = R"(graph {
    %cache = input() : f32[4,3]
    %row = input() : f32[1,3]
    %at = input() : i32[]
    %new = dynamic_update_slice(%cache, %row, %at){axis=0}
    %sum = reduce_sum(%new){axes=[0]}
    return %new, %sum
  })";
  CompileOptions options;
  options.arguments = {{.donated = true}, {}, {}};
  const recipe::RecipeProto recipe = CompileText(kText, options);
  ASSERT_EQ(recipe.donations_size(), 1);
  const std::vector<Literal> arguments = {Literal({DType::kF32, {4, 3}}),
                                          Literal::FromVector<float>({1, 3}, {1, 2, 3}),
                                          Literal::Scalar<int32_t>(2)};
  for (const recipe::RecipeProto& r : {recipe, CompileText(kText)}) {
    const auto results = RunRecipe(r, arguments);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[1], Literal::FromVector<float>({3}, {1, 2, 3}));
  }
}

TEST(Compile, FrozenOperandsArePacked) {
  constexpr absl::string_view kText = R"(graph {
    %x = input() : f32[64,32]
    %w = input() : f32[48,32]
    %y = matmul(%x, %w){transpose_b=true}
    return %y
  })";
  CompileOptions options;
  options.arguments = {{}, {.frozen = true}};
  const recipe::RecipeProto packed = CompileText(kText, options);
  ASSERT_EQ(packed.prepared_size(), 1);
  EXPECT_EQ(packed.prepared(0).input(), 1u);
  const std::vector<Literal> arguments = RandomArguments(GraphFrom(kText), 3);
  const auto results = RunRecipe(packed, arguments);
  const auto plain = RunRecipe(CompileText(kText), arguments);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_TRUE(CheckSameBits(*results, *plain).ok());
}

// What the library does after a product, the compiled loops do alike: leaving the rewrite out gives
// the same bits.
TEST(Compile, EpiloguesChangeNoBits) {
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
           {1, 7, 5}, {3, 64, 33}, {17, 31, 129}, {64, 48, 256}, {130, 66, 70}}) {
    SCOPED_TRACE(absl::StrCat(m, "x", n, "x", k));
    const std::string shape = absl::StrCat("[", m, ",", n, "]");
    const ir::Graph graph = GraphFrom(absl::StrCat(
        "graph {\n%a = input() : f32[", m, ",", k, "]\n%w = input() : f32[", n, ",", k,
        "]\n%bias = input() : f32[", n, "]\n%r = input() : f32", shape, "\n%s = input() : f32[]\n",
        "%p = matmul(%a, %w){transpose_b=true}\n", "%rows = broadcast(%bias){axes=[1], shape=",
        shape, "}\n%q = add(%p, %rows)\n", "%third = constant(){value=f32[] {0.3}}\n",
        "%thirds = broadcast(%third){axes=[], shape=", shape, "}\n%t = mul(%q, %thirds)\n",
        "%ss = broadcast(%s){axes=[], shape=", shape, "}\n%u = mul(%t, %ss)\n",
        "%v = add(%r, %u)\n%x = mul(%v, %r)\n%y = relu(%x)\n", "return %y\n}"));
    const std::vector<Literal> arguments = RandomArguments(graph, 7);
    CompileOptions options;
    const auto got = CompileAndRun(graph, options, arguments);
    options.disabled_passes = {"library_rewrite"};
    const auto want = CompileAndRun(graph, options, arguments);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(want.ok()) << want.status();
    const absl::Status same = CheckSameBits(*got, *want);
    EXPECT_TRUE(same.ok()) << same;
  }
}

// LLVM 19's instcombine takes "|x| > 0 or |x| is NaN" for "x > 0 or x is NaN".
TEST(Compile, TheMaximumOfAnAbsoluteValueAndZero) {
  const ir::Graph graph = GraphFrom(R"(graph {
    %x = input() : f32[5]
    %a = abs(%x)
    %y = relu(%a)
    return %y
  })");
  const float nan = std::nanf("");
  const std::vector<Literal> x = {Literal::FromVector<float>({5}, {-2, -0.5, 0, 3, nan})};
  const auto results = CompileAndRun(graph, {}, x);
  ASSERT_TRUE(results.ok()) << results.status();
  const Literal want = Literal::FromVector<float>({5}, {2, 0.5, 0, 3, nan});
  EXPECT_TRUE(CheckSameBits(*results, {want}).ok()) << (*results)[0].ToString();
}

TEST(Compile, EqualLayersShareKernels) {
  TrainingGraphOptions options;
  options.layers = 2;
  const TrainingGraph two = MakeTrainingGraph(options);
  options.layers = 4;
  const TrainingGraph four = MakeTrainingGraph(options);
  const auto a = Compile(two.graph, {.arguments = two.arguments}, codegen::Target::Host());
  const auto b = Compile(four.graph, {.arguments = four.arguments}, codegen::Target::Host());
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_GT(b->steps_size(), a->steps_size());
  EXPECT_EQ(b->objects_size(), a->objects_size());
}

// A whole step: every parameter and moment in place, values as the interpreter's.
TEST(Compile, ATrainingStepMatchesTheInterpreter) {
  for (const DType compute : {DType::kF32, DType::kBF16}) {
    TrainingGraphOptions options;
    options.compute = compute;
    const TrainingGraph step = MakeTrainingGraph(options);
    const auto recipe = Compile(step.graph, {.arguments = step.arguments}, codegen::Target::Host());
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    int donated = 0;
    for (const ArgumentInfo& argument : step.arguments) donated += argument.donated;
    EXPECT_EQ(recipe->donations_size(), donated);

    std::vector<Literal> arguments = RandomArguments(step.graph, 5);
    // Second moments are not negative.
    for (size_t i = arguments.size() - donated / 3; i < arguments.size(); ++i) {
      for (int64_t j = 0; j < arguments[i].num_elements(); ++j) {
        arguments[i].SetDouble(j, std::abs(arguments[i].AsDouble(j)) + 0.1);
      }
    }
    const auto want = ops::Interpret(step.graph, arguments);
    ASSERT_TRUE(want.ok()) << want.status();
    const auto got = RunRecipe(*recipe, arguments);
    ASSERT_TRUE(got.ok()) << got.status();
    // f32: sums in another order through two layers. bf16: each intermediate may round either way.
    const ops::Tolerance tolerance =
        compute == DType::kF32 ? ops::Tolerance{2e-4, 2e-4} : ops::Tolerance{5e-2, 5e-2};
    for (size_t i = 0; i < got->size(); ++i) {
      const absl::Status close = ops::CheckClose((*got)[i], (*want)[i], tolerance);
      EXPECT_TRUE(close.ok()) << "output " << i << ": " << close;
    }
  }
}

TEST(Compile, NamesWhatIsWrong) {
  CompileOptions options;
  options.arguments = {{}};
  const auto short_list = Compile(GraphFrom(kUpdate), options, codegen::Target::Host());
  EXPECT_THAT(std::string(short_list.status().message()), HasSubstr("2 inputs"));
  options.arguments = {};
  options.disabled_passes = {"unknown_pass"};
  const auto unknown = Compile(GraphFrom(kUpdate), options, codegen::Target::Host());
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("unknown_pass"));
}

}  // namespace
}  // namespace trencadis::compiler
