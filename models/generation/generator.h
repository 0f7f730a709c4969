// Generator: continues prompts token by token with a key-value cache.
//
// Prompts of different lengths are padded on the left to a common bucket and continue as if each
// were alone. Every shape is a bucket's, so the number of recipes is bounded by the buckets: one
// prefill for each, one decode step for each cache length.
//
// Letters: B prompts, P padded prompt length, S cache length.
#ifndef TRENCADIS_MODELS_GENERATION_GENERATOR_H_
#define TRENCADIS_MODELS_GENERATION_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/generation/sampler.h"
#include "models/zoo/causal_lm.h"
#include "runtime/lazy/context.h"

namespace trencadis::generation {

struct GenerationOptions {
  int64_t max_new_tokens = 100;
  DType compute = DType::kF32;
  // Empty: greedy.
  std::optional<SamplingOptions> sampling;
  uint64_t seed = 27;
  // Generation of a prompt ends at one of these; empty: never before max_new_tokens.
  std::vector<int64_t> eos_token_ids;
  // Lengths are rounded up to a multiple of this; -1: to a power of two.
  int64_t bucket_size = -1;
  // Every prompt is padded to this length, if it is longer than the longest prompt, in place of a
  // bucket; 0: none.
  int64_t prompt_length = 0;
};

struct Generation {
  // Without the prompt; ends with the end-of-sequence token where that came.
  std::vector<std::vector<int32_t>> tokens;
  double prefill_seconds = 0;
  double decode_seconds = 0;  // of all tokens but the first of each prompt
  int64_t decode_steps = 0;
};

// Called with each token as it comes, in order of prompts within a step.
using TokenCallback = std::function<void(int64_t prompt, int32_t token)>;

class Generator {
 public:
  // The model has values and outlives the generator.
  Generator(lazy::Context& context, zoo::CausalLm& model) : context_(context), model_(model) {}

  // InvalidArgument for no or an empty prompt, ids outside the vocabulary, or more positions than
  // the model has. Cancelled when the process is interrupted.
  absl::StatusOr<Generation> Generate(const std::vector<std::vector<int32_t>>& prompts,
                                      const GenerationOptions& options,
                                      const TokenCallback& on_token = nullptr);

 private:
  // The device's side of one batch of prompts.
  struct Session {
    zoo::KeyValueCache cache;
    std::vector<int64_t> pad;  // per prompt: positions of padding before it
    int64_t length = 0;        // positions in the cache that are filled
  };

  absl::Status CheckPrompts(const std::vector<std::vector<int32_t>>& prompts,
                            const GenerationOptions& options) const;
  absl::StatusOr<Literal> Prefill(const std::vector<std::vector<int32_t>>& prompts,
                                  const GenerationOptions& options, Session& session);
  absl::StatusOr<Literal> DecodeStep(absl::Span<const int32_t> tokens,
                                     const GenerationOptions& options, Session& session);
  lazy::Tensor NextTokenScores(const lazy::Tensor& last_hidden, const GenerationOptions& options);

  lazy::Context& context_;
  zoo::CausalLm& model_;
};

// `length` rounded up to its bucket (see GenerationOptions::bucket_size); at least 1.
int64_t BucketedLength(int64_t length, int64_t bucket_size);

}  // namespace trencadis::generation

#endif  // TRENCADIS_MODELS_GENERATION_GENERATOR_H_
