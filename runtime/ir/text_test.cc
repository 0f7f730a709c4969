#include "runtime/ir/text.h"

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/ir/verifier.h"
#include "runtime/ops/registry.h"

namespace trencadis::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Everything the form has: nesting, several results, every kind of attribute, labels.
constexpr absl::string_view kEverything = R"(graph {
  %0 = input() : f32[2,3] @"x"
  %1 = input() : bf16[4,5,2,8]
  %2 = constant(){value=f32[] {0.1}} : f32[]
  %3 = constant(){value=bool[2] {true, false}} : bool[2]
  %4 = constant(){value=f32[2,3] {splat -0.0}} : f32[2,3]
  %5 = constant(){value=i64[0] {}} : i64[0]
  %6 = iota(){axis=0, dtype=i32, shape=[4, 5]} : i32[4,5]
  %7 = attention(%1, %1, %1, %6, %6){causal=true, has_segments=true, scale=0.125} : (bf16[4,5,2,8], f32[4,2,5]) @"layers.0.\"attention\""
  %8 = fusion(%0, %4){body=graph {
    %0 = input() : f32[2,3]
    %1 = input() : f32[2,3]
    %2 = add(%0, %1) : f32[2,3]
    %3 = fusion(%2){body=graph {
      %0 = input() : f32[2,3]
      return
    }} : ()
    return %2, %0
  }} : (f32[2,3], f32[2,3])
  %9 = pad(%8.1){high=[0, 1], low=[1, 0], value=-inf} : f32[3,4]
  return %8.0, %9, %7.1
}
)";

absl::StatusOr<Graph> Parse(absl::string_view text) { return ParseGraph(text, ops::FindOp); }

std::string ErrorOf(absl::string_view text) {
  const auto graph = Parse(text);
  return graph.ok() ? "" : std::string(graph.status().message());
}

TEST(TextTest, RoundTrips) {
  const absl::StatusOr<Graph> graph = Parse(kEverything);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(VerifyGraph(*graph).ok());
  EXPECT_EQ(GraphToText(*graph), kEverything);
  EXPECT_EQ(graph->node(0).label, "x");
}

TEST(TextTest, ReadsNamesCommentsAndMissingTypes) {
  const absl::StatusOr<Graph> graph = Parse(R"(
    # the smallest
    graph {
      %x = input():f32[2, 3]  # rows
      %sum_1 = reduce_sum(%x){axes=[1]}
      return %sum_1.0
    } # end
  )");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(GraphToText(*graph),
            "graph {\n  %0 = input() : f32[2,3]\n"
            "  %1 = reduce_sum(%0){axes=[1]} : f32[2]\n  return %1\n}\n");
}

template <typename T>
void ExpectLiteralRoundTrips(std::vector<T> values) {
  const Shape shape = {static_cast<int64_t>(values.size())};
  const Literal literal = Literal::FromVector(shape, values);
  Graph graph;
  ASSERT_TRUE(graph
                  .AddNode(ops::FindOp("constant"), {},
                           {{"value", LiteralPtr(std::make_shared<const Literal>(literal))}})
                  .ok());
  const absl::StatusOr<Graph> back = Parse(GraphToText(graph));
  ASSERT_TRUE(back.ok()) << back.status() << GraphToText(graph);
  EXPECT_EQ(*back, graph) << GraphToText(graph);
}

TEST(TextTest, LiteralsKeepEveryBit) {
  std::mt19937 random(1);
  std::vector<float> floats = {0.0f,
                               -0.0f,
                               1.0f,
                               std::nextafter(1.0f, 2.0f),
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::max(),
                               std::bit_cast<float>(0x7fc12345u),
                               std::bit_cast<float>(0xff800001u)};
  for (int i = 0; i < 2000; ++i) floats.push_back(std::bit_cast<float>(uint32_t(random())));
  ExpectLiteralRoundTrips(floats);
  std::vector<BF16> halves(1 << 16);
  for (int i = 0; i < 1 << 16; ++i) halves[i].bits = static_cast<uint16_t>(i);
  ExpectLiteralRoundTrips(halves);
  ExpectLiteralRoundTrips<int32_t>({0, -1, INT32_MIN, INT32_MAX});
  ExpectLiteralRoundTrips<int64_t>({0, -1, INT64_MIN, INT64_MAX});
  ExpectLiteralRoundTrips<uint8_t>({0, 255});
  ExpectLiteralRoundTrips<bool>({true, false, true});
  ExpectLiteralRoundTrips<float>(std::vector<float>(1000, 0.1f));
}

TEST(TextTest, ReadsHexadecimalFloats) {
  const auto graph =
      Parse("graph { %a = constant(){value=f32[3] {0x1.8p+1, -0x1p-3, 3}} return %a }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->node(0).attributes.Get<LiteralPtr>("value")->data<float>(),
              ::testing::ElementsAre(3.0f, -0.125f, 3.0f));
}

TEST(TextTest, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(ErrorOf("graph {\n  %x = inputs() : f32[2]\n  return %x\n}"),
            "2:8: there is no op 'inputs'");
  EXPECT_EQ(ErrorOf("graph {\n  %x = input() : f32[2]\n  return %y\n}"),
            "3:10: %y is not defined before its use");
  EXPECT_EQ(ErrorOf("graph { %x = neg(%x) return }"), "1:18: %x is not defined before its use");
  EXPECT_EQ(ErrorOf("graph { %x = input() : f32[2] %x = neg(%x) return }"),
            "1:32: %x is defined twice");
  EXPECT_EQ(ErrorOf("graph { %x = input() : f32[2] return %x.1 }"), "1:38: %x has 1 results");
  EXPECT_EQ(ErrorOf("graph { %x = input() : f32[2] %y = neg(%x) %z = input() : f32[2] return }"),
            "1:49: an input after other nodes; inputs come first");
  EXPECT_EQ(ErrorOf("graph { %x = input() : f32[2] %y = neg(%x) : f32[3] return }"),
            "1:44: the results are (f32[2])");
  EXPECT_EQ(ErrorOf("graph { %x = input() : f32[2] %y = neg(%x){axis=1} return }"),
            "1:36: neg: unknown attribute 'axis'; this op has none");
  EXPECT_EQ(ErrorOf("graph {"),
            "1:8: got the end of the text; wanted a node (%name = ...) or 'return'");
  EXPECT_EQ(ErrorOf("graph { return } graph"), "1:18: got 'graph'; wanted the end of the text");
  EXPECT_THAT(ErrorOf("graph { %x = constant(){value=u8[1] {256}} return }"),
              HasSubstr("got '256'; wanted a value of u8"));
  EXPECT_THAT(ErrorOf("graph { %x = input() : f32[2 return }"), StartsWith("1:"));
  EXPECT_THAT(ErrorOf("graph { %x = constant(){value=bf16[1] {0.1}} return }"),
              HasSubstr("wanted a value of bf16"));
}

TEST(TextTest, HostileTextIsRefusedCheaply) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "graph { %a = fusion(){body=";
  EXPECT_THAT(ErrorOf(deep), HasSubstr("deep in one another"));
  EXPECT_THAT(ErrorOf("graph { %x = constant(){value=f32[1000000000000] {splat 0.0}} return }"),
              HasSubstr("literals take more bytes than the limit allows"));
  EXPECT_THAT(ErrorOf("graph { %x = input() : f32[9000000000000000000] return }"),
              HasSubstr("1:24: "));
  EXPECT_FALSE(Parse("graph { %x = input() : f32[4294967296,4294967296] return }").ok());
  const auto few = ParseGraph(kEverything, ops::FindOp, {.nodes = 3});
  EXPECT_THAT(few.status().message(), HasSubstr("more nodes than the limit allows"));
  const auto small = ParseGraph(kEverything, ops::FindOp, {.literal_bytes = 5});
  EXPECT_THAT(small.status().message(), HasSubstr("more bytes than the limit allows"));
}

// Whatever is accepted is a valid graph whose text form reads back.
TEST(TextTest, SurvivesMutations) {
  std::mt19937 random(7);
  constexpr absl::string_view kAlphabet = "%(){}[]=,.:\"@#\\ \n0129-xgraphtinu";
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text(kEverything);
    for (int edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = kAlphabet[random() % kAlphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
    }
    const absl::StatusOr<Graph> graph = Parse(text);
    if (!graph.ok()) continue;
    ++accepted;
    ASSERT_TRUE(VerifyGraph(*graph).ok()) << text;
    const absl::StatusOr<Graph> back = Parse(GraphToText(*graph));
    ASSERT_TRUE(back.ok()) << text;
    ASSERT_EQ(*back, *graph) << text;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace trencadis::ir
