#include "models/generation/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace trencadis::generation {
namespace {

constexpr int kDraws = 40000;

std::map<int32_t, double> Frequencies(const SamplingOptions& options,
                                      const std::vector<float>& logits) {
  Sampler sampler(options, 7);
  std::map<int32_t, double> counts;
  for (int i = 0; i < kDraws; ++i) counts[sampler.Draw(logits)] += 1.0 / kDraws;
  return counts;
}

// Five standard deviations of a frequency of 40,000 draws are at most 0.0125.
constexpr double kTolerance = 0.0125;

TEST(SamplerTest, GreedyTakesTheFirstOfEquals) { EXPECT_EQ(GreedyToken({1.0f, 3.0f, 3.0f}), 1); }

TEST(SamplerTest, FollowsSoftmaxWithTemperature) {
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f};
  const double temperature = 2.0;
  double total = 0;
  for (float x : logits) total += std::exp(x / temperature);
  auto frequencies = Frequencies({.temperature = temperature}, logits);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(frequencies[i], std::exp(logits[i] / temperature) / total, kTolerance);
  }
}

TEST(SamplerTest, TopKKeepsTheLikeliest) {
  auto frequencies = Frequencies({.top_k = 2}, {0.0f, 1.0f, 2.0f, -1.0f});
  EXPECT_EQ(frequencies.size(), 2u);
  EXPECT_NEAR(frequencies[2], std::exp(1.0) / (1 + std::exp(1.0)), kTolerance);
}

TEST(SamplerTest, TopPKeepsTheFewestThatReachIt) {
  // Probabilities 0.5, 0.3, 0.2.
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  EXPECT_EQ(Frequencies({.top_p = 0.4}, logits).size(), 1u);
  auto two = Frequencies({.top_p = 0.7}, logits);
  EXPECT_EQ(two.size(), 2u);
  EXPECT_NEAR(two[0], 0.625, kTolerance);
  EXPECT_EQ(Frequencies({.top_p = 0.0}, logits).size(), 1u);
}

TEST(SamplerTest, SeedDecides) {
  const std::vector<float> logits(50, 0.0f);
  Sampler a({}, 1), b({}, 1), c({}, 2);
  std::vector<int32_t> drawn_a, drawn_b, drawn_c;
  for (int i = 0; i < 20; ++i) {
    drawn_a.push_back(a.Draw(logits));
    drawn_b.push_back(b.Draw(logits));
    drawn_c.push_back(c.Draw(logits));
  }
  EXPECT_EQ(drawn_a, drawn_b);
  EXPECT_NE(drawn_a, drawn_c);
}

}  // namespace
}  // namespace trencadis::generation
