// Llama (Touvron et al., 2023) and its relatives: pre-norm decoder, rotary positions, grouped
// heads, gated SiLU feed-forward. Parameter names and arithmetic are those of transformers'
// LlamaForCausalLM.
//
// Letters: B batch, T time, C width, H query heads, K key-value heads, D head width.
#ifndef TRENCADIS_MODELS_ZOO_LLAMA_H_
#define TRENCADIS_MODELS_ZOO_LLAMA_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "models/nn/embedding.h"
#include "models/nn/linear.h"
#include "models/nn/rms_norm.h"
#include "models/nn/rotary.h"
#include "models/zoo/causal_lm.h"
#include "runtime/lazy/context.h"

namespace trencadis::zoo {

// What the layers share in one forward pass.
struct LlamaPass {
  nn::RotaryAngles angles;
  std::optional<lazy::Tensor> query_segments;
  std::optional<lazy::Tensor> key_segments;
  // With a cache: where the queries stand in it, and the cache's tensors for this layer.
  std::optional<lazy::Tensor> offset;
  KeyValueCache* cache = nullptr;
};

class LlamaAttention : public nn::Module {
 public:
  LlamaAttention(const checkpoint::ModelConfig& config, int64_t layer);
  // x [B,T,C] in mode.compute, to the same.
  lazy::Tensor Forward(const lazy::Tensor& x, const LlamaPass& pass,
                       const nn::ForwardMode& mode) const;

 private:
  lazy::Tensor Heads(const nn::Linear& projection, const lazy::Tensor& x, int64_t heads,
                     const nn::ForwardMode& mode) const;

  const int64_t layer_, heads_, kv_heads_, head_dim_, window_;
  nn::Linear q_proj_, k_proj_, v_proj_, o_proj_;
};

class LlamaMlp : public nn::Module {
 public:
  explicit LlamaMlp(const checkpoint::ModelConfig& config);
  lazy::Tensor Forward(const lazy::Tensor& x, const nn::ForwardMode& mode) const;

 private:
  nn::Linear gate_proj_, up_proj_, down_proj_;
};

class LlamaLayer : public nn::Module {
 public:
  LlamaLayer(const checkpoint::ModelConfig& config, int64_t layer);
  lazy::Tensor Forward(const lazy::Tensor& x, const LlamaPass& pass,
                       const nn::ForwardMode& mode) const;

 private:
  LlamaAttention self_attn_;
  LlamaMlp mlp_;
  nn::RmsNorm input_layernorm_, post_attention_layernorm_;
};

class Llama : public CausalLm {
 public:
  // InvalidArgument for a configuration that is not a Llama or asks for what is not built: another
  // activation, rope scaling.
  static absl::StatusOr<std::unique_ptr<Llama>> Create(const checkpoint::ModelConfig& config);

  const checkpoint::ModelConfig& config() const override { return config_; }
  lazy::Tensor Hidden(const TokenBatch& batch, const nn::ForwardMode& mode) override;
  lazy::Tensor HiddenWithCache(const TokenBatch& batch, const lazy::Tensor& offset,
                               KeyValueCache& cache, const nn::ForwardMode& mode) override;
  nn::Parameter& head() override;

 private:
  // The tree below "model.".
  class Decoder : public nn::Module {
   public:
    explicit Decoder(const checkpoint::ModelConfig& config);
    lazy::Tensor Forward(const lazy::Tensor& ids, const LlamaPass& pass,
                         const nn::ForwardMode& mode) const;
    nn::Embedding embed_tokens;

   private:
    std::vector<std::unique_ptr<LlamaLayer>> layers_;
    nn::RmsNorm norm_;
  };

  explicit Llama(const checkpoint::ModelConfig& config);
  const nn::RotaryTable& Table(lazy::Context& context, int64_t length);

  const checkpoint::ModelConfig config_;
  Decoder model_;
  std::optional<nn::Linear> lm_head_;  // absent when tied
  std::optional<nn::RotaryTable> table_;
};

}  // namespace trencadis::zoo

#endif  // TRENCADIS_MODELS_ZOO_LLAMA_H_
