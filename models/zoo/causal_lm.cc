#include "models/zoo/causal_lm.h"

namespace trencadis::zoo {

using lazy::Tensor;

namespace {

// [B,T,D] as [B*T,D].
Tensor Rows(const Tensor& hidden) { return lazy::Reshape(hidden, {-1, hidden.dim(2)}); }

}  // namespace

Tensor CausalLm::Logits(const Tensor& hidden, const nn::ForwardMode& mode) {
  return lazy::MatMul(hidden, head().As(mode.compute),
                      {.transpose_b = true, .result_dtype = DType::kF32});
}

Tensor CausalLm::LossSum(const TokenBatch& batch, const Tensor& labels,
                         const nn::ForwardMode& mode) {
  return lazy::LinearCrossEntropy(Rows(Hidden(batch, mode)), head().As(mode.compute),
                                  lazy::Reshape(labels, {-1}), kIgnoredLabel);
}

lazy::LossAndHits CausalLm::Score(const TokenBatch& batch, const Tensor& labels,
                                  const nn::ForwardMode& mode) {
  return lazy::LinearCrossEntropyAndHits(Rows(Hidden(batch, mode)), head().As(mode.compute),
                                         lazy::Reshape(labels, {-1}), kIgnoredLabel);
}

KeyValueCache CausalLm::NewCache(lazy::Context& context, int64_t batch, int64_t length,
                                 DType dtype) {
  KeyValueCache cache;
  const TensorType type{dtype,
                        Shape{batch, length, config().num_key_value_heads, config().head_dim}};
  const Literal zeros(type);
  for (int64_t layer = 0; layer < config().num_hidden_layers; ++layer) {
    cache.keys.push_back(Tensor::FromHost(context, zeros));
    cache.values.push_back(Tensor::FromHost(context, zeros));
  }
  return cache;
}

}  // namespace trencadis::zoo
