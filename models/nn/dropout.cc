#include "models/nn/dropout.h"

#include <vector>

#include "runtime/lazy/ops.h"

namespace trencadis::nn {

using lazy::Tensor;

Tensor Dropout(const Tensor& x, double rate, const Randomness& randomness, const Tensor& site) {
  const int64_t batch = x.dim(0);
  const int64_t sample_size = batch == 0 ? 0 : x.shape().num_elements() / batch;
  const Shape flat{batch, sample_size};
  const Tensor element = lazy::Iota(x.context(), {DType::kI32, flat}, 1);
  const Tensor sample = lazy::BroadcastTo(lazy::Reshape(randomness.samples, {batch, 1}), flat);
  const auto spread = [&](const Tensor& scalar) { return lazy::BroadcastTo(scalar, flat); };
  const Tensor uniform =
      lazy::Apply1("philox_uniform", {element, sample, spread(site), spread(randomness.step),
                                      spread(randomness.seed_low), spread(randomness.seed_high)});
  const Tensor keep = lazy::GreaterEqual(uniform, lazy::Full(x.context(), uniform.type(), rate));
  const Tensor scaled = lazy::Mul(x, 1.0 / (1.0 - rate));
  return lazy::Select(lazy::Reshape(keep, x.shape().dims()), scaled,
                      lazy::Zeros(x.context(), x.type()));
}

}  // namespace trencadis::nn
