#include "runtime/compiler/graph_report.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/codegen/target.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kGraph = R"(graph {
  %x = input() : f32[8,8]
  %y = exp(%x) @"first \"quoted\""
  %z = matmul(%y, %y) @"second"
  return %z
})";

recipe::RecipeProto Recipe() {
  auto recipe = Compile(GraphFrom(kGraph), {.name = "a <name>"}, codegen::Target::Host());
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  return recipe.ok() ? *std::move(recipe) : recipe::RecipeProto();
}

TEST(GraphReport, DotNamesNodesAndEdges) {
  const std::string dot = GraphToDot(GraphFrom(kGraph), "t");
  EXPECT_THAT(dot, HasSubstr("n1 [label=\"exp\\nf32[8,8]\\nfirst 'quoted'\""));
  EXPECT_THAT(dot, HasSubstr("n0 -> n1;"));
  EXPECT_THAT(dot, HasSubstr("n2 -> out0;"));
}

TEST(GraphReport, TextSaysWhoIsAliveAtThePeak) {
  const std::string text = PlanToText(Recipe());
  EXPECT_THAT(text, HasSubstr("alive at the peak"));
  EXPECT_THAT(text, HasSubstr("256 B"));
  EXPECT_THAT(text, HasSubstr("#"));
}

TEST(GraphReport, SvgHasARectanglePerValue) {
  const recipe::RecipeProto recipe = Recipe();
  const std::string svg = PlanToSvg(recipe);
  size_t rectangles = 0;
  for (size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) {
    ++rectangles;
  }
  EXPECT_EQ(rectangles, static_cast<size_t>(recipe.plan().values_size()));
}

TEST(GraphReport, ChromeTraceIsJsonWithEveryStep) {
  const recipe::RecipeProto recipe = Recipe();
  const auto json = nlohmann::json::parse(RecipeToChromeTrace(recipe));
  int steps = 0;
  for (const auto& event : json["traceEvents"]) steps += event.value("cat", "") == "step";
  EXPECT_EQ(steps, recipe.steps_size());
}

}  // namespace
}  // namespace trencadis::compiler
