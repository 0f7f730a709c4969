// Sampler: the next token from a row of logits.
#ifndef TRENCADIS_MODELS_GENERATION_SAMPLER_H_
#define TRENCADIS_MODELS_GENERATION_SAMPLER_H_

#include <cstdint>
#include <random>

#include "absl/types/span.h"

namespace trencadis::generation {

struct SamplingOptions {
  double temperature = 1.0;
  int64_t top_k = 0;   // 0: all tokens
  double top_p = 1.0;  // 1: all tokens
};

// The most likely token; the first of equals.
int32_t GreedyToken(absl::Span<const float> logits);

// Draws from softmax(logits / temperature) restricted to the top_k most likely tokens, then to the
// fewest whose probabilities reach top_p (Holtzman et al., 2020), in transformers' order. At least
// one token always remains.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, uint64_t seed) : options_(options), engine_(seed) {}

  int32_t Draw(absl::Span<const float> logits);

 private:
  SamplingOptions options_;
  std::mt19937_64 engine_;
};

}  // namespace trencadis::generation

#endif  // TRENCADIS_MODELS_GENERATION_SAMPLER_H_
