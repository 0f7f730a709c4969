#include "models/generation/generator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/clock.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/status.h"
#include "runtime/lazy/ops.h"

namespace trencadis::generation {
namespace {

using lazy::Tensor;

constexpr int32_t kPadSegment = -1;

Tensor OnDevice(lazy::Context& context, Shape shape, const std::vector<int32_t>& values) {
  return Tensor::FromHost(context, Literal::FromVector<int32_t>(std::move(shape), values));
}

Tensor IntScalar(lazy::Context& context, int64_t value) {
  return Tensor::FromHost(context, Literal::Scalar<int32_t>(static_cast<int32_t>(value)));
}

// What the scores of a step choose for one prompt: the token itself (greedy, chosen on the device)
// or logits to draw from.
int32_t ChosenToken(const Literal& scores, int64_t prompt, std::vector<Sampler>& samplers) {
  if (scores.dtype() == DType::kI32) return scores.data<int32_t>()[prompt];
  const int64_t vocabulary = scores.shape().dim(1);
  return samplers[prompt].Draw(scores.data<float>().subspan(prompt * vocabulary, vocabulary));
}

}  // namespace

int64_t BucketedLength(int64_t length, int64_t bucket_size) {
  length = std::max<int64_t>(length, 1);
  if (bucket_size <= 0) return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length)));
  return (length + bucket_size - 1) / bucket_size * bucket_size;
}

absl::Status Generator::CheckPrompts(const std::vector<std::vector<int32_t>>& prompts,
                                     const GenerationOptions& options) const {
  if (prompts.empty()) return absl::InvalidArgumentError("there is no prompt to continue");
  const int64_t vocabulary = model_.config().vocab_size;
  const int64_t positions = model_.config().max_position_embeddings;
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (prompts[i].empty()) {
      return absl::InvalidArgumentError(absl::StrCat("prompt ", i, " is empty; give it a token"));
    }
    for (int32_t id : prompts[i]) {
      if (id >= 0 && id < vocabulary) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("prompt ", i, " has token ", id, "; the vocabulary has ", vocabulary));
    }
    const int64_t wanted = static_cast<int64_t>(prompts[i].size()) + options.max_new_tokens;
    if (wanted > positions) {
      return absl::InvalidArgumentError(
          absl::StrCat("prompt ", i, " has ", prompts[i].size(), " tokens, with ",
                       options.max_new_tokens, " new ones ", wanted, "; the model has ", positions,
                       " positions: shorten the prompt or lower max_new_tokens"));
    }
  }
  return absl::OkStatus();
}

Tensor Generator::NextTokenScores(const Tensor& last_hidden, const GenerationOptions& options) {
  const Tensor logits =
      model_.Logits(lazy::Reshape(last_hidden, {last_hidden.dim(0), last_hidden.dim(2)}),
                    {.compute = options.compute});
  return options.sampling.has_value() ? logits : lazy::ArgMax(logits, 1);
}

absl::StatusOr<Literal> Generator::Prefill(const std::vector<std::vector<int32_t>>& prompts,
                                           const GenerationOptions& options, Session& session) {
  const auto batch = static_cast<int64_t>(prompts.size());
  size_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, prompt.size());
  const int64_t bucket = BucketedLength(static_cast<int64_t>(longest), options.bucket_size);
  const int64_t padded_length =
      options.prompt_length > 0 ? std::max<int64_t>(options.prompt_length, longest) : bucket;
  const int64_t cache_length =
      BucketedLength(padded_length + options.max_new_tokens, options.bucket_size);

  std::vector<int32_t> ids(batch * padded_length, 0);
  std::vector<int32_t> positions(ids.size(), 0);
  std::vector<int32_t> segments(ids.size(), kPadSegment);
  std::vector<int32_t> cache_segments(batch * cache_length, 0);
  for (int64_t b = 0; b < batch; ++b) {
    const auto length = static_cast<int64_t>(prompts[b].size());
    const int64_t pad = padded_length - length;
    session.pad.push_back(pad);
    std::fill_n(cache_segments.begin() + b * cache_length, pad, kPadSegment);
    for (int64_t t = 0; t < length; ++t) {
      const int64_t at = b * padded_length + pad + t;
      ids[at] = prompts[b][t];
      positions[at] = static_cast<int32_t>(t);
      segments[at] = 0;
    }
  }
  session.cache = model_.NewCache(context_, batch, cache_length, options.compute);
  zoo::TokenBatch tokens{OnDevice(context_, Shape{batch, padded_length}, ids), std::nullopt,
                         OnDevice(context_, Shape{batch, padded_length}, positions)};
  // Always given, so that padded and unpadded prompts of a bucket share their recipes.
  tokens.segments = OnDevice(context_, Shape{batch, padded_length}, segments);
  session.cache.segments = OnDevice(context_, Shape{batch, cache_length}, cache_segments);
  const Tensor hidden = model_.HiddenWithCache(tokens, IntScalar(context_, 0), session.cache,
                                               {.compute = options.compute});
  session.length = padded_length;
  return NextTokenScores(lazy::Slice(hidden, 1, padded_length - 1, padded_length), options)
      .ToHost();
}

absl::StatusOr<Literal> Generator::DecodeStep(absl::Span<const int32_t> tokens,
                                              const GenerationOptions& options, Session& session) {
  const auto batch = static_cast<int64_t>(tokens.size());
  std::vector<int32_t> positions;
  for (int64_t pad : session.pad) positions.push_back(static_cast<int32_t>(session.length - pad));
  const zoo::TokenBatch step{OnDevice(context_, Shape{batch, 1}, {tokens.begin(), tokens.end()}),
                             OnDevice(context_, Shape{batch, 1}, std::vector<int32_t>(batch, 0)),
                             OnDevice(context_, Shape{batch, 1}, positions)};
  const Tensor hidden = model_.HiddenWithCache(step, IntScalar(context_, session.length),
                                               session.cache, {.compute = options.compute});
  ++session.length;
  return NextTokenScores(hidden, options).ToHost();
}

absl::StatusOr<Generation> Generator::Generate(const std::vector<std::vector<int32_t>>& prompts,
                                               const GenerationOptions& options,
                                               const TokenCallback& on_token) {
  TRENCADIS_RETURN_IF_ERROR(CheckPrompts(prompts, options));
  Generation generation;
  generation.tokens.resize(prompts.size());
  if (options.max_new_tokens <= 0) return generation;
  std::vector<Sampler> samplers;
  for (size_t i = 0; i < prompts.size(); ++i) {
    samplers.emplace_back(options.sampling.value_or(SamplingOptions{}), options.seed + i);
  }
  Session session;
  const double start_s = MonotonicClock().NowSeconds();
  TRENCADIS_ASSIGN_OR_RETURN(Literal scores, Prefill(prompts, options, session));
  const double prefilled_s = MonotonicClock().NowSeconds();
  generation.prefill_seconds = prefilled_s - start_s;

  std::vector<bool> ended(prompts.size(), false);
  std::vector<int32_t> next(prompts.size(), 0);
  while (true) {
    for (size_t i = 0; i < prompts.size(); ++i) {
      if (ended[i]) continue;
      next[i] = ChosenToken(scores, static_cast<int64_t>(i), samplers);
      generation.tokens[i].push_back(next[i]);
      if (on_token != nullptr) on_token(static_cast<int64_t>(i), next[i]);
      const auto& eos = options.eos_token_ids;
      ended[i] = std::find(eos.begin(), eos.end(), next[i]) != eos.end() ||
                 static_cast<int64_t>(generation.tokens[i].size()) >= options.max_new_tokens;
    }
    if (std::all_of(ended.begin(), ended.end(), [](bool e) { return e; })) break;
    TRENCADIS_RETURN_IF_ERROR(InterruptStatus());
    TRENCADIS_ASSIGN_OR_RETURN(scores, DecodeStep(next, options, session));
    ++generation.decode_steps;
  }
  generation.decode_seconds = MonotonicClock().NowSeconds() - prefilled_s;
  return generation;
}

}  // namespace trencadis::generation
