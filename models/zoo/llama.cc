#include "models/zoo/llama.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/lazy/ops.h"

namespace trencadis::zoo {
namespace {

using checkpoint::ModelConfig;
using lazy::LabelScope;
using lazy::Tensor;
using nn::ForwardMode;

nn::LinearOptions Projection(const ModelConfig& config, int64_t in, int64_t out, bool bias,
                             std::string in_axis, std::string out_axis) {
  return {.in = in,
          .out = out,
          .bias = bias,
          .out_axis = std::move(out_axis),
          .in_axis = std::move(in_axis),
          .initializer_std = config.initializer_range};
}

nn::LinearOptions ToHeads(const ModelConfig& config, int64_t heads) {
  return Projection(config, config.hidden_size, heads * config.head_dim, config.attention_bias,
                    "embed", "heads");
}

nn::LinearOptions FromHeads(const ModelConfig& config) {
  return Projection(config, config.num_attention_heads * config.head_dim, config.hidden_size,
                    config.attention_bias, "heads", "embed");
}

nn::LinearOptions ToMlp(const ModelConfig& config) {
  return Projection(config, config.hidden_size, config.intermediate_size, config.mlp_bias, "embed",
                    "mlp");
}

nn::LinearOptions FromMlp(const ModelConfig& config) {
  return Projection(config, config.intermediate_size, config.hidden_size, config.mlp_bias, "mlp",
                    "embed");
}

}  // namespace

LlamaAttention::LlamaAttention(const ModelConfig& config, int64_t layer)
    : layer_(layer),
      heads_(config.num_attention_heads),
      kv_heads_(config.num_key_value_heads),
      head_dim_(config.head_dim),
      window_(config.sliding_window.value_or(0)),
      q_proj_(ToHeads(config, heads_)),
      k_proj_(ToHeads(config, kv_heads_)),
      v_proj_(ToHeads(config, kv_heads_)),
      o_proj_(FromHeads(config)) {
  Register("q_proj", &q_proj_);
  Register("k_proj", &k_proj_);
  Register("v_proj", &v_proj_);
  Register("o_proj", &o_proj_);
}

Tensor LlamaAttention::Heads(const nn::Linear& projection, const Tensor& x, int64_t heads,
                             const ForwardMode& mode) const {
  return lazy::Reshape(projection.Forward(x, mode), {x.dim(0), x.dim(1), heads, head_dim_});
}

Tensor LlamaAttention::Forward(const Tensor& x, const LlamaPass& pass,
                               const ForwardMode& mode) const {
  const Tensor q = nn::ApplyRotary(Heads(q_proj_, x, heads_, mode), pass.angles);
  Tensor k = nn::ApplyRotary(Heads(k_proj_, x, kv_heads_, mode), pass.angles);
  Tensor v = Heads(v_proj_, x, kv_heads_, mode);
  if (pass.cache != nullptr) {
    // The old cache is dropped here, so the update happens in its place.
    Tensor& keys = pass.cache->keys[layer_];
    Tensor& values = pass.cache->values[layer_];
    k = keys = lazy::DynamicUpdateSlice(keys, lazy::Convert(k, keys.dtype()), *pass.offset, 1);
    v = values =
        lazy::DynamicUpdateSlice(values, lazy::Convert(v, values.dtype()), *pass.offset, 1);
  }
  const Tensor mixed = lazy::Attention(q, k, v,
                                       {.scale = 1.0 / std::sqrt(static_cast<double>(head_dim_)),
                                        .causal = true,
                                        .window = window_,
                                        .query_segments = pass.query_segments,
                                        .key_segments = pass.key_segments,
                                        .query_offset = pass.offset});
  return o_proj_.Forward(lazy::Reshape(mixed, {x.dim(0), x.dim(1), heads_ * head_dim_}), mode);
}

LlamaMlp::LlamaMlp(const ModelConfig& config)
    : gate_proj_(ToMlp(config)), up_proj_(ToMlp(config)), down_proj_(FromMlp(config)) {
  Register("gate_proj", &gate_proj_);
  Register("up_proj", &up_proj_);
  Register("down_proj", &down_proj_);
}

Tensor LlamaMlp::Forward(const Tensor& x, const ForwardMode& mode) const {
  const Tensor gate = lazy::Silu(gate_proj_.Forward(x, mode));
  return down_proj_.Forward(lazy::Mul(gate, up_proj_.Forward(x, mode)), mode);
}

LlamaLayer::LlamaLayer(const ModelConfig& config, int64_t layer)
    : self_attn_(config, layer),
      mlp_(config),
      input_layernorm_(config.hidden_size, config.rms_norm_eps),
      post_attention_layernorm_(config.hidden_size, config.rms_norm_eps) {
  Register("self_attn", &self_attn_);
  Register("mlp", &mlp_);
  Register("input_layernorm", &input_layernorm_);
  Register("post_attention_layernorm", &post_attention_layernorm_);
}

Tensor LlamaLayer::Forward(const Tensor& x, const LlamaPass& pass, const ForwardMode& mode) const {
  Tensor residual;
  {
    LabelScope scope(x.context(), "self_attn");
    residual = lazy::Add(x, self_attn_.Forward(input_layernorm_.Forward(x, mode), pass, mode));
  }
  LabelScope scope(x.context(), "mlp");
  return lazy::Add(residual, mlp_.Forward(post_attention_layernorm_.Forward(residual, mode), mode));
}

Llama::Decoder::Decoder(const ModelConfig& config)
    : embed_tokens(config.vocab_size, config.hidden_size, config.initializer_range),
      norm_(config.hidden_size, config.rms_norm_eps) {
  Register("embed_tokens", &embed_tokens);
  for (int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    layers_.push_back(std::make_unique<LlamaLayer>(config, layer));
    Register(absl::StrCat("layers.", layer), layers_.back().get());
  }
  Register("norm", &norm_);
}

Tensor Llama::Decoder::Forward(const Tensor& ids, const LlamaPass& pass,
                               const ForwardMode& mode) const {
  Tensor x = embed_tokens.Forward(ids, mode);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto run = [&layer = *layers_[i], name = absl::StrCat("layers.", i), pass,
                      mode](absl::Span<const Tensor> inputs) {
      LabelScope scope(inputs[0].context(), name);
      return std::vector<Tensor>{layer.Forward(inputs[0], pass, mode)};
    };
    x = mode.checkpointing != nullptr ? mode.checkpointing->Checkpoint(run, {x})[0] : run({x})[0];
  }
  LabelScope scope(x.context(), "norm");
  return norm_.Forward(x, mode);
}

absl::StatusOr<std::unique_ptr<Llama>> Llama::Create(const ModelConfig& config) {
  TRENCADIS_RETURN_IF_ERROR(checkpoint::CheckModelConfig(config));
  if (config.hidden_act != "silu") {
    return absl::InvalidArgumentError(
        absl::StrCat("the model's hidden_act is '", config.hidden_act, "'; a Llama has silu"));
  }
  if (config.rope_scaling.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rope_scaling of type '", config.rope_scaling->type,
                     "' is not built; use a checkpoint without rope_scaling"));
  }
  return std::unique_ptr<Llama>(new Llama(config));
}

Llama::Llama(const ModelConfig& config) : config_(config), model_(config) {
  Register("model", &model_);
  if (config.tie_word_embeddings) return;
  lm_head_.emplace(
      Projection(config, config.hidden_size, config.vocab_size, false, "embed", "vocab"));
  Register("lm_head", &*lm_head_);
}

nn::Parameter& Llama::head() {
  return lm_head_.has_value() ? lm_head_->weight() : model_.embed_tokens.weight();
}

const nn::RotaryTable& Llama::Table(lazy::Context& context, int64_t length) {
  // Long enough at once for most batches: a table that grows later has another shape, and recipes
  // that use it are compiled again.
  constexpr int64_t kLeastLength = 4096;
  length = std::max(length, std::min(config_.max_position_embeddings, kLeastLength));
  if (!table_.has_value() || table_->length() < length) {
    table_.emplace(context, nn::InverseFrequencies(config_.rope_theta, config_.head_dim), length);
  }
  return *table_;
}

Tensor Llama::Hidden(const TokenBatch& batch, const ForwardMode& mode) {
  const int64_t length = batch.ids.dim(1);
  const nn::RotaryTable& table = Table(batch.ids.context(), length);
  LlamaPass pass;
  pass.angles = batch.positions.has_value() ? table.At(*batch.positions) : table.Range(0, length);
  pass.query_segments = pass.key_segments = batch.segments;
  return model_.Forward(batch.ids, pass, mode);
}

Tensor Llama::HiddenWithCache(const TokenBatch& batch, const Tensor& offset, KeyValueCache& cache,
                              const ForwardMode& mode) {
  TRENCADIS_CHECK(batch.positions.has_value());
  LlamaPass pass;
  pass.angles = Table(batch.ids.context(), cache.keys[0].dim(1)).At(*batch.positions);
  pass.query_segments = batch.segments;
  pass.key_segments = cache.segments;
  pass.offset = offset;
  pass.cache = &cache;
  return model_.Forward(batch.ids, pass, mode);
}

}  // namespace trencadis::zoo
