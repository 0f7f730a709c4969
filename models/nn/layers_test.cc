// The layers against their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/nn/embedding.h"
#include "models/nn/linear.h"
#include "models/nn/rms_norm.h"
#include "models/nn/rotary.h"
#include "runtime/lazy/ops.h"
#include "runtime/lazy/testing.h"

namespace trencadis::nn {
namespace {

using lazy::FromValues;
using lazy::RandomValues;
using lazy::Tensor;
using lazy::Values;
using ::testing::ElementsAre;

class LayersTest : public testing::Test {
 protected:
  // Gives every parameter random values; returns those of the first.
  std::vector<float> Initialise(Module& module) {
    std::vector<float> first;
    uint32_t seed = 10;
    for (const auto& [name, parameter] : module.Parameters()) {
      const std::vector<float> values = RandomValues(parameter->shape.num_elements(), seed++);
      parameter->value = FromValues(machine_.context, parameter->shape, values);
      if (first.empty()) first = values;
    }
    return first;
  }

  lazy::TestMachine machine_;
};

TEST_F(LayersTest, RmsNormFollowsItsFormula) {
  constexpr int kWidth = 5;
  RmsNorm norm(kWidth, 1e-2);
  const std::vector<float> weight = Initialise(norm);
  const std::vector<float> x = RandomValues(2 * kWidth, 1);
  const std::vector<float> y =
      Values(norm.Forward(FromValues(machine_.context, {1, 2, kWidth}, x), {}));
  for (int row = 0; row < 2; ++row) {
    double squares = 0;
    for (int i = 0; i < kWidth; ++i) squares += std::pow(x[row * kWidth + i], 2);
    for (int i = 0; i < kWidth; ++i) {
      const double want = x[row * kWidth + i] / std::sqrt(squares / kWidth + 1e-2) * weight[i];
      EXPECT_NEAR(y[row * kWidth + i], want, 1e-6);
    }
  }
}

TEST_F(LayersTest, RmsNormsStatisticsAreWideInBf16) {
  RmsNorm norm(512, 0);
  Initialise(norm);
  norm.Parameters()[0].parameter->value =
      lazy::Full(machine_.context, {DType::kF32, Shape{512}}, 1);
  // 256 + many ones: a bf16 sum would stop at 256.
  std::vector<float> x(512, 1);
  x[0] = 16;
  const Tensor y =
      norm.Forward(lazy::Convert(FromValues(machine_.context, {1, 512}, x), DType::kBF16),
                   {.compute = DType::kBF16});
  EXPECT_EQ(y.dtype(), DType::kBF16);
  const float want = ToF32(ToBF16(1 / std::sqrt((256.0f + 511) / 512)));
  EXPECT_EQ(Values(lazy::Convert(y, DType::kF32))[5], want);
}

TEST_F(LayersTest, LinearIsXWTransposedPlusB) {
  Linear linear({.in = 2, .out = 3, .bias = true});
  linear.weight().value = FromValues(machine_.context, {3, 2}, {1, 2, 3, 4, 5, 6});
  linear.Parameters()[1].parameter->value = FromValues(machine_.context, {3}, {10, 20, 30});
  EXPECT_THAT(Values(linear.Forward(FromValues(machine_.context, {1, 2}, {1, -1}), {})),
              ElementsAre(9, 19, 29));
  EXPECT_EQ(linear.Parameters()[0].name, "weight");
  EXPECT_EQ(linear.Parameters()[1].name, "bias");
  EXPECT_FALSE(linear.Parameters()[1].parameter->decays);
}

TEST_F(LayersTest, EmbeddingLooksUpRows) {
  Embedding embedding(3, 2, 0.02);
  embedding.weight().value = FromValues(machine_.context, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor ids =
      Tensor::FromHost(machine_.context, Literal::FromVector<int32_t>({1, 2}, {2, 0}));
  const Tensor rows = embedding.Forward(ids, {.compute = DType::kBF16});
  EXPECT_EQ(rows.type(), (TensorType{DType::kBF16, {1, 2, 2}}));
  EXPECT_THAT(Values(lazy::Convert(rows, DType::kF32)), ElementsAre(5, 6, 1, 2));
}

// Pair i of a head is its elements i and i + D/2, turned by position * theta^(-2i/D).
TEST_F(LayersTest, RotaryTurnsPairsByTheirAngles) {
  constexpr int kTime = 3, kHeads = 2, kWidth = 6;
  const RotaryTable table(machine_.context, InverseFrequencies(100, kWidth), 8);
  EXPECT_EQ(table.length(), 8);
  const std::vector<float> x = RandomValues(kTime * kHeads * kWidth, 4);
  const Tensor device_x = FromValues(machine_.context, {1, kTime, kHeads, kWidth}, x);
  const std::vector<float> y = Values(ApplyRotary(device_x, table.Range(2, kTime)));
  for (int t = 0; t < kTime; ++t) {
    for (int h = 0; h < kHeads; ++h) {
      for (int i = 0; i < kWidth / 2; ++i) {
        const double angle = (2 + t) * std::pow(100.0, -2.0 * i / kWidth);
        const size_t a = (t * kHeads + h) * kWidth + i, b = a + kWidth / 2;
        EXPECT_NEAR(y[a], x[a] * std::cos(angle) - x[b] * std::sin(angle), 1e-6);
        EXPECT_NEAR(y[b], x[b] * std::cos(angle) + x[a] * std::sin(angle), 1e-6);
      }
    }
  }
  const Tensor positions =
      Tensor::FromHost(machine_.context, Literal::FromVector<int32_t>({1, kTime}, {2, 3, 4}));
  EXPECT_EQ(Values(ApplyRotary(device_x, table.At(positions))), y);
}

TEST_F(LayersTest, RotaryRoundsOnce) {
  const RotaryTable table(machine_.context, InverseFrequencies(10000, 8), 4);
  const Tensor x =
      lazy::Convert(FromValues(machine_.context, {1, 4, 1, 8}, RandomValues(32, 9)), DType::kBF16);
  const Tensor narrow = ApplyRotary(x, table.Range(0, 4));
  EXPECT_EQ(narrow.dtype(), DType::kBF16);
  const Tensor wide = ApplyRotary(lazy::Convert(x, DType::kF32), table.Range(0, 4));
  EXPECT_EQ(Values(lazy::Convert(narrow, DType::kF32)),
            Values(lazy::Convert(lazy::Convert(wide, DType::kBF16), DType::kF32)));
}

class Pair : public Module {
 public:
  Pair() : left({.in = 2, .out = 2}), right({.in = 2, .out = 2, .bias = true}) {
    Register("left", &left);
    Register("right", &right);
  }
  Linear left, right;
};

TEST(ModuleTest, ParametersHaveTheirFullNamesInOrder) {
  class Root : public Module {
   public:
    Root() { Register("layers.0", &pair); }
    Pair pair;
  };
  Root root;
  std::vector<std::string> names, modules;
  for (const auto& parameter : root.Parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names,
              ElementsAre("layers.0.left.weight", "layers.0.right.weight", "layers.0.right.bias"));
  root.VisitModules([&](const std::string& name, Module&) { modules.push_back(name); });
  EXPECT_THAT(modules, ElementsAre("", "layers.0", "layers.0.left", "layers.0.right"));
}

}  // namespace
}  // namespace trencadis::nn
