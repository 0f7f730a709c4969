#include "runtime/ops/interpreter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/ir/text.h"
#include "runtime/ops/registry.h"

namespace trencadis::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Literal>> RunText(absl::string_view text,
                                             std::vector<Literal> arguments) {
  const absl::StatusOr<ir::Graph> graph = ir::ParseGraph(text, FindOp);
  if (!graph.ok()) return graph.status();
  return Interpret(*graph, arguments);
}

TEST(InterpreterTest, RunsGraphsAndNestedBodies) {
  const auto results = RunText(
      R"(graph {
    %x = input() : f32[3]
    %y = input() : f32[3]
    %f = fusion(%x, %y){body=graph {
      %a = input() : f32[3]
      %b = input() : f32[3]
      %sum = add(%a, %b)
      %g = fusion(%sum){body=graph {
        %c = input() : f32[3]
        %d = mul(%c, %c)
        return %d, %c
      }}
      %e = sub(%g.0, %g.1)
      return %e, %sum
    }}
    %z = neg(%f.0)
    return %z, %f.1, %x, %f.1
  })",
      {Literal::FromVector<float>({3}, {1, 2, 3}), Literal::FromVector<float>({3}, {0, 1, -1})});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 4u);
  EXPECT_THAT((*results)[0].data<float>(), ElementsAre(0, -6, -2));
  EXPECT_THAT((*results)[1].data<float>(), ElementsAre(1, 3, 2));
  EXPECT_THAT((*results)[2].data<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ((*results)[3], (*results)[1]);
}

TEST(InterpreterTest, Bf16RoundsAfterEveryOp) {
  // 1 + 2^-8 is halfway between two bf16 and rounds to 1; doing both additions first would not.
  const auto results = RunText(R"(graph {
    %x = input() : bf16[1]
    %tiny = constant(){value=bf16[1] {0.00390625}}
    %a = add(%x, %tiny)
    %b = add(%a, %tiny)
    return %b
  })",
                               {Literal::FromVector<BF16>({1}, {ToBF16(1.0f)})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].AsDouble(0), 1.0);
}

TEST(InterpreterTest, RefusesWrongArguments) {
  constexpr absl::string_view kText = "graph { %x = input() : f32[2] return %x }";
  EXPECT_EQ(RunText(kText, {}).status().message(), "got 0 arguments; wanted 1");
  EXPECT_EQ(RunText(kText, {Literal({DType::kI32, {2}})}).status().message(),
            "argument 0 is i32[2]; wanted f32[2]");
}

TEST(InterpreterTest, ErrorsNameTheNode) {
  const auto results = RunText(R"(graph {
    %table = input() : f32[2,1]
    %ids = constant(){value=i32[1] {5}}
    %y = take(%table, %ids)
    return %y
  })",
                               {Literal({DType::kF32, {2, 1}})});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(results.status().message(), HasSubstr("%2 = take"));
}

}  // namespace
}  // namespace trencadis::ops
