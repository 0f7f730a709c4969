#include "models/generation/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace trencadis::generation {
namespace {

// A 53-bit uniform number in [0, 1): the same on every standard library, unlike
// std::uniform_real_distribution.
double Uniform(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }

}  // namespace

int32_t GreedyToken(absl::Span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

int32_t Sampler::Draw(absl::Span<const float> logits) {
  std::vector<int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  size_t kept = tokens.size();
  if (options_.top_k > 0) kept = std::min<size_t>(kept, options_.top_k);
  const auto likelier = [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  std::partial_sort(tokens.begin(), tokens.begin() + kept, tokens.end(), likelier);
  tokens.resize(kept);
  std::vector<double> weights(kept);
  double total = 0;
  for (size_t i = 0; i < kept; ++i) {
    const double above = static_cast<double>(logits[tokens[i]]) - logits[tokens[0]];
    total += weights[i] = std::exp(above / options_.temperature);
  }
  if (options_.top_p < 1) {
    double mass = 0;
    size_t nucleus = 0;
    while (nucleus < kept && mass < options_.top_p * total) mass += weights[nucleus++];
    kept = std::max<size_t>(nucleus, 1);
    total = std::accumulate(weights.begin(), weights.begin() + kept, 0.0);
  }
  double remaining = Uniform(engine_) * total;
  for (size_t i = 0; i + 1 < kept; ++i) {
    remaining -= weights[i];
    if (remaining < 0) return tokens[i];
  }
  return tokens[kept - 1];
}

}  // namespace trencadis::generation
