// CausalLm: what training and generation need of a decoder-only language model.
//
// Letters: B batch, T time, D width, V vocabulary, S cache length.
#ifndef TRENCADIS_MODELS_ZOO_CAUSAL_LM_H_
#define TRENCADIS_MODELS_ZOO_CAUSAL_LM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "models/checkpoint/hf_config.h"
#include "models/nn/forward_mode.h"
#include "models/nn/module.h"
#include "runtime/lazy/ops.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::zoo {

// The tokens of a batch and how they may see one another.
struct TokenBatch {
  lazy::Tensor ids;  // i32 [B,T]
  // i32 [B,T]: document numbers of packed rows, with a number of its own for padding; a token sees
  // its own document only. Absent: every token is of one document.
  std::optional<lazy::Tensor> segments;
  // i32 [B,T]; absent: 0 .. T-1 in every row.
  std::optional<lazy::Tensor> positions;
};

// The key-value cache of a generation: per layer keys and values [B,S,K,D], updated in place.
struct KeyValueCache {
  std::vector<lazy::Tensor> keys;
  std::vector<lazy::Tensor> values;
  // i32 [B,S]: segment of each cached position (-1: padding). Absent: no padding anywhere.
  std::optional<lazy::Tensor> segments;
};

class CausalLm : public nn::Module {
 public:
  virtual const checkpoint::ModelConfig& config() const = 0;

  // The last hidden state after the final norm, [B,T,D] in mode.compute.
  virtual lazy::Tensor Hidden(const TokenBatch& batch, const nn::ForwardMode& mode) = 0;

  // The same for tokens that continue what `cache` holds: query 0 is cache position `offset` (i32
  // scalar). Writes their keys and values into the cache. batch.positions is required;
  // batch.segments if cache has them.
  virtual lazy::Tensor HiddenWithCache(const TokenBatch& batch, const lazy::Tensor& offset,
                                       KeyValueCache& cache, const nn::ForwardMode& mode) = 0;

  // The projection to the vocabulary, [V,D]: the embedding table itself when they are tied.
  virtual nn::Parameter& head() = 0;

  // hidden [...,D] to f32 logits [...,V].
  lazy::Tensor Logits(const lazy::Tensor& hidden, const nn::ForwardMode& mode);

  // Sum of next-token losses, f32 scalar: labels i32 [B,T] are already shifted (labels[b,t] is what
  // follows token t) and -100 where nothing is to be learned.
  lazy::Tensor LossSum(const TokenBatch& batch, const lazy::Tensor& labels,
                       const nn::ForwardMode& mode);

  // The same without gradients, with the number of labels that are the most likely token.
  lazy::LossAndHits Score(const TokenBatch& batch, const lazy::Tensor& labels,
                          const nn::ForwardMode& mode);

  // Zeroed caches for `batch` rows of up to `length` tokens.
  KeyValueCache NewCache(lazy::Context& context, int64_t batch, int64_t length, DType dtype);
};

inline constexpr int64_t kIgnoredLabel = -100;

}  // namespace trencadis::zoo

#endif  // TRENCADIS_MODELS_ZOO_CAUSAL_LM_H_
