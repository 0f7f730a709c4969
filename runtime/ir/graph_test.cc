#include "runtime/ir/graph.h"

#include <limits>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/ir/graph_builder.h"
#include "runtime/ops/registry.h"

namespace trencadis::ir {
namespace {

using ::testing::HasSubstr;

LiteralPtr Shared(Literal literal) { return std::make_shared<const Literal>(std::move(literal)); }

TEST(AttributesTest, AreSortedAndReplaced) {
  Attributes attributes = {{"b", int64_t{1}}, {"a", true}, {"b", int64_t{2}}};
  ASSERT_EQ(attributes.entries().size(), 2u);
  EXPECT_EQ(attributes.entries()[0].first, "a");
  EXPECT_EQ(attributes.Get<int64_t>("b"), 2);
  EXPECT_EQ(attributes.GetOr<int64_t>("c", 7), 7);
  attributes.Erase("a");
  EXPECT_FALSE(attributes.Has("a"));
}

TEST(AttributesTest, CompareByContent) {
  const auto with = [](Attribute value) { return Attributes{{"x", std::move(value)}}; };
  const Literal one = Literal::Scalar(1.0f);
  EXPECT_EQ(with(Shared(one)), with(Shared(one)));
  EXPECT_FALSE(with(Shared(one)) == with(Shared(Literal::Scalar(2.0f))));
  EXPECT_FALSE(with(0.0) == with(-0.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with(nan), with(nan));
  EXPECT_FALSE(with(int64_t{1}) == with(true));

  Graph a, b;
  a.AddInput({DType::kF32, {2}});
  b.AddInput({DType::kF32, {2}});
  EXPECT_EQ(with(std::make_shared<const Graph>(a)), with(std::make_shared<const Graph>(b)));
  b.AddInput({DType::kF32, {2}});
  EXPECT_FALSE(with(std::make_shared<const Graph>(a)) == with(std::make_shared<const Graph>(b)));
}

TEST(GraphTest, InfersResultTypes) {
  Graph graph;
  const Value x = graph.AddInput({DType::kBF16, {2, 3}});
  const auto node = graph.AddNode(ops::FindOp("reduce_sum"), {x},
                                  {{"axes", std::vector<int64_t>{1}}, {"keep_dims", true}});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(graph.type({*node, 0}).ToString(), "bf16[2,1]");
  EXPECT_EQ(graph.num_inputs(), 1);
}

TEST(GraphTest, RefusesBadNodesAndStaysAsItWas) {
  Graph graph;
  const Value a = graph.AddInput({DType::kF32, {2, 3}});
  const Value b = graph.AddInput({DType::kF32, {4, 5}});
  const Graph before = graph;
  const auto message = [&](absl::string_view op, std::vector<Value> operands,
                           Attributes attributes) {
    return std::string(graph.AddNode(ops::FindOp(op), std::move(operands), std::move(attributes))
                           .status()
                           .message());
  };
  EXPECT_EQ(message("matmul", {a, b}, {}),
            "matmul: operand 0 is f32[2,3], operand 1 is f32[4,5]; the inner dimensions 3 and 4 "
            "differ");
  EXPECT_EQ(message("add", {a}, {}), "add: got 1 operands; wanted 2");
  EXPECT_EQ(message("reshape", {a}, {}), "reshape: attribute 'shape' is missing; wanted integers");
  EXPECT_EQ(message("reshape", {a}, {{"shape", true}}),
            "reshape: attribute 'shape' is a bool; wanted integers");
  EXPECT_EQ(message("neg", {a}, {{"axis", true}}),
            "neg: unknown attribute 'axis'; this op has none");
  EXPECT_THAT(message("add", {a, {7, 0}}, {}), HasSubstr("operand 1 is result 0 of node 7"));
  EXPECT_THAT(message("add", {a, {0, 1}}, {}), HasSubstr("operand 1 is result 1 of node 0"));
  EXPECT_THAT(message("constant", {}, {{"value", LiteralPtr()}}), HasSubstr("a null pointer"));
  EXPECT_THAT(message("iota", {},
                      {{"dtype", DType::kF32},
                       {"shape", std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40}},
                       {"axis", int64_t{0}}}),
              HasSubstr("too large"));
  EXPECT_EQ(graph, before);
}

TEST(GraphTest, LabelsAreNoPartOfItsIdentity) {
  Graph a, b;
  const Value x = a.AddInput({DType::kF32, {2}});
  b.AddInput({DType::kF32, {2}});
  ASSERT_TRUE(a.AddNode(ops::FindOp("neg"), {x}, {}, "here").ok());
  ASSERT_TRUE(b.AddNode(ops::FindOp("neg"), {x}, {}, "there").ok());
  EXPECT_EQ(a, b);
  b.SetOutputs({x});
  EXPECT_FALSE(a == b);
}

TEST(TensorTypeTest, SizesThatWouldOverflowAreRefused) {
  EXPECT_TRUE(CheckTensorType({DType::kF32, {0, 5}}).ok());
  EXPECT_TRUE(CheckTensorType({DType::kF32, {kMaxElements}}).ok());
  EXPECT_FALSE(CheckTensorType({DType::kF32, {kMaxElements, 2}}).ok());
  EXPECT_FALSE(CheckTensorType({DType::kF32, {0, kMaxElements, kMaxElements}}).ok());
  EXPECT_FALSE(CheckTensorType({DType::kF32, {-1}}).ok());
  EXPECT_FALSE(CheckTensorType({DType::kF32, {1, 1, 1, 1, 1, 1, 1, 1, 1}}).ok());
}

TEST(GraphBuilderTest, BuildsAndReportsTheFirstError) {
  Graph graph;
  GraphBuilder builder(graph, ops::FindOp);
  const Val x = builder.Input({DType::kF32, {2}});
  builder.SetLabel("block");
  const Val y = builder.Emit1("neg", {x});
  EXPECT_EQ(builder.TypeOf(y).ToString(), "f32[2]");
  ASSERT_TRUE(builder.Finish({y}).ok());
  EXPECT_EQ(graph.node(1).label, "block");
  EXPECT_EQ(graph.outputs()[0], builder.ValueOf(y));

  const Val wrong = builder.Emit1("nonsense", {x});
  EXPECT_FALSE(wrong.valid());
  EXPECT_FALSE(builder.Emit1("neg", {wrong}).valid());
  EXPECT_EQ(builder.Finish({y}).message(), "there is no op 'nonsense'");
}

}  // namespace
}  // namespace trencadis::ir
