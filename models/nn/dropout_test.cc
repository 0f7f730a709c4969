#include "models/nn/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/lazy/ops.h"
#include "runtime/lazy/testing.h"

namespace trencadis::nn {
namespace {

using lazy::Tensor;
using lazy::TestMachine;
using lazy::Values;

struct Draw {
  uint64_t seed = 42;
  int32_t step = 0;
  int32_t site = 3;
  std::vector<int32_t> samples = {0, 1, 2, 3};
  double rate = 0.25;
  lazy::ContextOptions options;
};

// Ones [4,50,10] after dropout: one vector per sample.
std::vector<std::vector<float>> Dropped(const Draw& draw) {
  TestMachine machine(draw.options);
  lazy::Context& context = machine.context;
  const auto scalar = [&](int64_t value) {
    return Tensor::FromHost(context, Literal::Scalar<int32_t>(static_cast<int32_t>(value)));
  };
  const auto rows = static_cast<int64_t>(draw.samples.size());
  const Randomness randomness{
      scalar(draw.seed), scalar(draw.seed >> 32), scalar(draw.step),
      Tensor::FromHost(context, Literal::FromVector<int32_t>(Shape{rows}, draw.samples))};
  const Tensor ones = lazy::Full(context, {DType::kF32, {rows, 50, 10}}, 1);
  const std::vector<float> values = Values(Dropout(ones, draw.rate, randomness, scalar(draw.site)));
  std::vector<std::vector<float>> by_sample;
  for (int64_t row = 0; row < rows; ++row) {
    by_sample.emplace_back(values.begin() + row * 500, values.begin() + (row + 1) * 500);
  }
  return by_sample;
}

TEST(DropoutTest, KeepsTheGivenShareAndItsMean) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    int64_t kept = 0;
    for (const std::vector<float>& sample : Dropped({.rate = rate})) {
      for (const float value : sample) {
        if (value == 0) continue;
        ++kept;
        ASSERT_FLOAT_EQ(value, static_cast<float>(1 / (1 - rate)));
      }
    }
    // 2000 draws: five standard deviations. The draws are the same in every run.
    EXPECT_NEAR(kept, 2000 * (1 - rate), 5 * std::sqrt(2000 * rate * (1 - rate)));
  }
}

TEST(DropoutTest, FollowsFromSeedStepSampleAndSiteAlone) {
  const auto base = Dropped({});
  EXPECT_EQ(Dropped({}), base);
  EXPECT_EQ(Dropped({.options = {.max_compound_ops = 1}}), base);
  EXPECT_NE(Dropped({.seed = 43})[0], base[0]);
  EXPECT_NE(Dropped({.seed = 42 + (uint64_t{1} << 32)})[0], base[0]);
  EXPECT_NE(Dropped({.step = 1})[0], base[0]);
  EXPECT_NE(Dropped({.site = 4})[0], base[0]);
  EXPECT_NE(base[0], base[1]);
  // A micro batch draws what its rows draw in the whole batch.
  EXPECT_EQ(Dropped({.samples = {2, 3}})[0], base[2]);
}

}  // namespace
}  // namespace trencadis::nn
