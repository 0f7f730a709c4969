#include "runtime/ir/verifier.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/ir/fingerprint.h"
#include "runtime/ir/text.h"
#include "runtime/ops/registry.h"

namespace trencadis::ir {
namespace {

using ::testing::HasSubstr;

Graph Parse(absl::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text, ops::FindOp);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

TEST(VerifierTest, AcceptsWhatTheParserAccepts) {
  const Graph graph = Parse(R"(graph {
    %x = input() : f32[2,3]
    %y = fusion(%x){body=graph { %a = input() : f32[2,3] %b = exp(%a) return %b, %a }}
    return %y.1, %x
  })");
  EXPECT_TRUE(VerifyGraph(graph).ok());
}

TEST(VerifierTest, FindsOutputsThatDoNotExist) {
  Graph graph = Parse("graph { %x = input() : f32[2] return %x }");
  graph.SetOutputs({{0, 1}});
  EXPECT_THAT(VerifyGraph(graph).message(), HasSubstr("output: reads %0.1"));
  graph.SetOutputs({{5, 0}});
  EXPECT_FALSE(VerifyGraph(graph).ok());
  graph.SetOutputs({{-1, 0}});
  EXPECT_FALSE(VerifyGraph(graph).ok());
}

TEST(VerifierTest, LooksIntoBodies) {
  auto body = std::make_shared<Graph>(Parse("graph { %x = input() : f32[2] return %x }"));
  Graph graph;
  const Value x = graph.AddInput({DType::kF32, {2}});
  ASSERT_TRUE(graph.AddNode(ops::FindOp("fusion"), {x}, {{"body", GraphPtr(body)}}).ok());
  EXPECT_TRUE(VerifyGraph(graph).ok());
  body->SetOutputs({{0, 3}});
  EXPECT_THAT(VerifyGraph(graph).message(), HasSubstr("%1 (fusion): body: output: reads %0.3"));
}

TEST(VerifierTest, FindsBodiesThatChangedTheirTypes) {
  auto body = std::make_shared<Graph>(
      Parse("graph { %x = input() : f32[2] %y = convert(%x){dtype=bf16} return %x }"));
  Graph graph;
  const Value x = graph.AddInput({DType::kF32, {2}});
  ASSERT_TRUE(graph.AddNode(ops::FindOp("fusion"), {x}, {{"body", GraphPtr(body)}}).ok());
  body->SetOutputs({{1, 0}});
  EXPECT_THAT(VerifyGraph(graph).message(),
              HasSubstr("has results (f32[2]); its op infers (bf16[2])"));
}

TEST(VerifierTest, LimitsHowDeepBodiesLie) {
  Graph graph;
  graph.AddInput({DType::kF32, {}});
  for (int i = 0; i < kMaxGraphDepth + 1; ++i) {
    graph.SetOutputs({{0, 0}});
    Graph outer;
    const Value x = outer.AddInput({DType::kF32, {}});
    ASSERT_TRUE(outer
                    .AddNode(ops::FindOp("fusion"), {x},
                             {{"body", GraphPtr(std::make_shared<Graph>(graph))}})
                    .ok());
    EXPECT_EQ(VerifyGraph(outer).ok(), i < kMaxGraphDepth);
    graph = outer;
  }
}

TEST(FingerprintTest, DiffersExactlyWhereGraphsDo) {
  const char* const texts[] = {
      "graph { %x = input() : f32[2] %y = neg(%x) return %y }",
      "graph { %x = input() : f32[2] %y = abs(%x) return %y }",
      "graph { %x = input() : f32[3] %y = neg(%x) return %y }",
      "graph { %x = input() : bf16[2] %y = neg(%x) return %y }",
      "graph { %x = input() : f32[2] %y = neg(%x) return %x }",
      "graph { %x = input() : f32[2] %y = neg(%x) return %y, %y }",
      "graph { %x = input() : f32[2] %y = neg(%x) return }",
      "graph { %x = input() : f32[2] %y = constant(){value=f32[] {1.0}} return %y }",
      "graph { %x = input() : f32[2] %y = constant(){value=f32[] {1.0000001}} return %y }",
      "graph { %x = input() : f32[2] %y = constant(){value=f32[] {0.0}} return %y }",
      "graph { %x = input() : f32[2] %y = constant(){value=f32[] {-0.0}} return %y }",
      "graph { %x = input() : f32[2] %y = reduce_sum(%x){axes=[]} return %y }",
      "graph { %x = input() : f32[2] %y = reduce_sum(%x){axes=[], keep_dims=true} return %y }",
      "graph { %x = input() : f32[2] %y = reduce_sum(%x){axes=[], keep_dims=false} return %y }",
      "graph { %x = input() : f32[2]"
      "  %y = fusion(%x){body=graph { %a = input() : f32[2] %b = neg(%a) return %b }} return %y }",
      "graph { %x = input() : f32[2]"
      "  %y = fusion(%x){body=graph { %a = input() : f32[2] %b = abs(%a) return %b }} return %y }",
  };
  for (const char* a : texts) {
    for (const char* b : texts) {
      EXPECT_EQ(FingerprintGraph(Parse(a)) == FingerprintGraph(Parse(b)), a == b) << a << "\n" << b;
      EXPECT_EQ(Parse(a) == Parse(b), a == b) << a << "\n" << b;
    }
  }
}

TEST(FingerprintTest, IgnoresLabelsAndNames) {
  EXPECT_EQ(FingerprintGraph(Parse("graph { %x = input() : f32[2] @\"w\" return %x }")),
            FingerprintGraph(Parse("graph { %a = input() : f32[2] return %a }")));
}

// Recipes on disk are named by it: a change must be meant.
TEST(FingerprintTest, IsStableAcrossProcesses) {
  const Graph graph = Parse("graph { %x = input() : f32[2] %y = neg(%x) return %y }");
  EXPECT_EQ(FingerprintGraph(graph).ToHex(), "940bfad9fb1bd510551fd33c9e9d99ea");
}

}  // namespace
}  // namespace trencadis::ir
