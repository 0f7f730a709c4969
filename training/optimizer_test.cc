#include "training/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/lazy/ops.h"
#include "runtime/lazy/testing.h"

namespace trencadis::training {
namespace {

using lazy::FromValues;
using lazy::Tensor;
using lazy::Values;

// One element of torch.optim.AdamW, in double.
struct ScalarAdamW {
  AdamWOptions options;
  double value, m = 0, v = 0;
  int t = 0;

  void Step(double g, double rate, bool decays) {
    ++t;
    if (decays) value -= rate * options.weight_decay * value;
    m = options.beta1 * m + (1 - options.beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g * g;
    const double root = std::sqrt(v) / std::sqrt(1 - std::pow(options.beta2, t));
    value -= rate / (1 - std::pow(options.beta1, t)) * m / (root + options.epsilon);
  }
};

class OptimizerTest : public testing::Test {
 protected:
  nn::Parameter NewParameter(const std::vector<float>& values) {
    nn::Parameter parameter;
    parameter.shape = Shape{static_cast<int64_t>(values.size())};
    parameter.value = FromValues(machine_.context, parameter.shape, values);
    return parameter;
  }

  lazy::TestMachine machine_;
};

TEST_F(OptimizerTest, FollowsTheFormulaStepByStep) {
  const AdamWOptions options{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4, .weight_decay = 0.1};
  nn::Parameter matrix = NewParameter({1, -2, 3}), bias = NewParameter({0.5, 0, -0.5});
  bias.decays = false;
  std::vector<ScalarAdamW> expected;
  for (const double value : {1.0, -2.0, 3.0, 0.5, 0.0, -0.5}) expected.push_back({options, value});
  AdamW optimizer(machine_.context, {{"matrix", &matrix}, {"bias", &bias}}, options);
  for (int step = 0; step < 5; ++step) {
    const double rate = 0.1 / (1 + step);
    const std::vector<float> g = lazy::RandomValues(6, 20 + step);
    optimizer.Step({FromValues(machine_.context, {3}, {g[0], g[1], g[2]}),
                    FromValues(machine_.context, {3}, {g[3], g[4], g[5]})},
                   rate);
    ASSERT_TRUE(machine_.context.MarkStep().ok());
    for (int i = 0; i < 6; ++i) expected[i].Step(g[i], rate, i < 3);
    const std::vector<float> a = Values(matrix.value), b = Values(bias.value);
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(i < 3 ? a[i] : b[i - 3], expected[i].value, 2e-6) << step << " " << i;
    }
  }
  EXPECT_EQ(optimizer.step(), 5);
  EXPECT_NEAR(Values(optimizer.moments()[0].first)[1], expected[1].m, 1e-6);
  EXPECT_NEAR(Values(optimizer.moments()[1].second)[2], expected[5].v, 1e-6);
  // What varies from step to step is no part of the recipe. Memory: parameters with their moments
  // and gradients, and three numbers.
  EXPECT_EQ(machine_.recipes.num_built(), 1u);
  EXPECT_EQ(machine_.device.memory_stats().max_persistent_bytes, (3 + 1) * 6 * 4 + 3 * 4);
}

TEST_F(OptimizerTest, AStepOfZeroGradientOnlyDecays) {
  nn::Parameter matrix = NewParameter({2, -4});
  AdamW optimizer(machine_.context, {{"matrix", &matrix}}, {.weight_decay = 0.5});
  optimizer.Step({FromValues(machine_.context, {2}, {0, 0})}, 0.1);
  EXPECT_FLOAT_EQ(Values(matrix.value)[0], 1.9f);
  EXPECT_FLOAT_EQ(Values(matrix.value)[1], -3.8f);
}

TEST_F(OptimizerTest, ClippingScalesToTheLimitAndNeverUp) {
  const std::vector<Tensor> gradients = {FromValues(machine_.context, {2}, {3, 0}),
                                         FromValues(machine_.context, {1}, {4})};
  const Tensor norm = GlobalNorm(gradients);
  EXPECT_FLOAT_EQ(Values(norm)[0], 5);
  const std::vector<Tensor> clipped = ClipByNorm(gradients, norm, 2.5);
  EXPECT_NEAR(Values(clipped[0])[0], 3 * 2.5 / (5 + 1e-6), 1e-6);
  EXPECT_NEAR(Values(clipped[1])[0], 4 * 2.5 / (5 + 1e-6), 1e-6);
  const std::vector<Tensor> untouched = ClipByNorm(gradients, norm, 100);
  EXPECT_EQ(Values(untouched[0])[0], 3);
  EXPECT_EQ(Values(untouched[1])[0], 4);
}

}  // namespace
}  // namespace trencadis::training
