// The functions' own part: broadcasting, constants, axes, attributes. What the ops compute is
// tested with the ops.
#include "runtime/lazy/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "runtime/lazy/testing.h"

namespace trencadis::lazy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OpsTest : public testing::Test {
 protected:
  Tensor Of(Shape shape, const std::vector<float>& values) {
    return FromValues(machine_.context, std::move(shape), values);
  }
  Tensor Ints(Shape shape, const std::vector<int32_t>& values) {
    return Tensor::FromHost(machine_.context,
                            Literal::FromVector<int32_t>(std::move(shape), values));
  }

  TestMachine machine_;
};

TEST_F(OpsTest, BinaryOpsBroadcastAsNumpyDoes) {
  const Tensor column = Of({2, 1}, {10, 20});
  const Tensor row = Of({3}, {1, 2, 3});
  const Tensor sum = Add(column, row);
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  EXPECT_THAT(Values(sum), ElementsAre(11, 12, 13, 21, 22, 23));
  EXPECT_EQ(Sub(Of({1, 1, 3}, {5, 5, 5}), column).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(Mul(Of({}, {2}), Of({0}, {})).shape(), Shape{0});
  EXPECT_TRUE(machine_.context.status().ok());
}

TEST_F(OpsTest, SelectBroadcastsAllThree) {
  const Tensor condition = Less(Of({2, 1}, {0, 2}), Of({}, {1}));
  const Tensor chosen = Select(condition, Of({3}, {1, 2, 3}), Of({}, {9}));
  EXPECT_THAT(Values(chosen), ElementsAre(1, 2, 3, 9, 9, 9));
}

TEST_F(OpsTest, NumbersTakeTheTensorsType) {
  const Tensor x = Convert(Of({2}, {1, 3}), DType::kBF16);
  EXPECT_EQ(Mul(x, 0.5).dtype(), DType::kBF16);
  const Tensor ids = Ints({3}, {1, 5, 9});
  const absl::StatusOr<Literal> clipped = Min(ids, 6).ToHost();
  ASSERT_TRUE(clipped.ok()) << clipped.status();
  EXPECT_THAT(clipped->data<int32_t>(), ElementsAre(1, 5, 6));
}

TEST_F(OpsTest, MixedTypesAreRefused) {
  Add(Of({2}, {1, 3}), Ints({2}, {1, 3}));
  EXPECT_EQ(machine_.context.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OpsTest, Constants) {
  EXPECT_THAT(Values(Full(machine_.context, {DType::kF32, {2, 2}}, 7)), ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(Values(Zeros(machine_.context, {DType::kF32, {0}})), IsEmpty());
  EXPECT_THAT(Values(Iota(machine_.context, {DType::kF32, {2, 3}}, -1)),
              ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(Values(Constant(machine_.context, Literal::Scalar(2.5f))), ElementsAre(2.5));
}

TEST_F(OpsTest, ReshapeFindsTheMissingDimension) {
  const Tensor x = Of({2, 6}, std::vector<float>(12, 1));
  EXPECT_EQ(Reshape(x, {3, -1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(Reshape(x, {2, 6}).id(), x.id());
  EXPECT_EQ(Reshape(Of({0, 5}, {}), {-1, 5}).shape(), (Shape{0, 5}));
  EXPECT_TRUE(machine_.context.status().ok());
  Reshape(x, {5, -1});
  EXPECT_EQ(machine_.context.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OpsTest, ViewsCountAxesFromTheEndToo) {
  const Tensor x = Of({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Values(Slice(x, -1, 1, 3)), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(Values(Reverse(x, -1)), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(Values(Transpose(x, {1, 0})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Values(Concatenate({x, x}, -2)), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(Concatenate({x}, 0).id(), x.id());
}

TEST_F(OpsTest, Reductions) {
  const Tensor x = Of({2, 3}, {1, 2, 3, 4, 5, 9});
  EXPECT_THAT(Values(ReduceSum(x, {0})), ElementsAre(5, 7, 12));
  EXPECT_THAT(Values(ReduceMax(x, {-1})), ElementsAre(3, 9));
  EXPECT_THAT(Values(ReduceMean(x, {1})), ElementsAre(2, 6));
  EXPECT_EQ(ReduceMean(x, {-1, 0}, /*keep_dims=*/true).shape(), (Shape{1, 1}));
  EXPECT_THAT(Values(SumAll(x)), ElementsAre(24));
}

TEST_F(OpsTest, MatMulWithoutBatchAndWithAnotherResultType) {
  const Tensor a = Of({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor b = Of({2, 2}, {1, 0, 1, 1});
  EXPECT_THAT(Values(MatMul(a, b)), ElementsAre(3, 2, 7, 4, 11, 6, 15, 8));
  EXPECT_THAT(Values(MatMul(a, b, {.transpose_b = true})), ElementsAre(1, 3, 3, 7, 5, 11, 7, 15));
  const Tensor narrow = Convert(b, DType::kBF16);
  EXPECT_EQ(MatMul(narrow, narrow).dtype(), DType::kBF16);
  EXPECT_EQ(MatMul(narrow, narrow, {.result_dtype = DType::kF32}).dtype(), DType::kF32);
}

TEST_F(OpsTest, DynamicSlicesTakeTheirStartFromATensor) {
  const Tensor x = Of({4, 1}, {1, 2, 3, 4});
  const Tensor start = Ints({}, {2});
  EXPECT_THAT(Values(DynamicSlice(x, start, 0, 2)), ElementsAre(3, 4));
  EXPECT_THAT(Values(DynamicUpdateSlice(x, Of({1, 1}, {9}), start, 0)), ElementsAre(1, 2, 9, 4));
}

TEST_F(OpsTest, AttentionOfOneKeyIsItsValue) {
  const Tensor q = Of({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor k = Of({1, 1, 1, 2}, {1, 1});
  const Tensor v = Of({1, 1, 1, 2}, {5, 6});
  EXPECT_THAT(Values(Attention(q, k, v, {.causal = true})), ElementsAre(5, 6, 5, 6));
}

TEST_F(OpsTest, CrossEntropySkipsIgnoredRows) {
  const Tensor x = Of({2, 2}, {0, 0, 3, 4});
  const Tensor w = Of({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor loss = LinearCrossEntropy(x, w, Ints({2}, {1, -100}), -100);
  EXPECT_NEAR(Values(loss)[0], std::log(4.0), 1e-6);
}

}  // namespace
}  // namespace trencadis::lazy
