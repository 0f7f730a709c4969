#include "models/nn/linear.h"

#include "runtime/lazy/ops.h"

namespace trencadis::nn {

using lazy::Tensor;

Linear::Linear(const LinearOptions& options) {
  weight_.shape = Shape{options.out, options.in};
  weight_.logical_axes = {options.out_axis, options.in_axis};
  weight_.initializer = {Initializer::Kind::kNormal, options.initializer_std};
  Register("weight", &weight_);
  if (!options.bias) return;
  bias_.emplace();
  bias_->shape = Shape{options.out};
  bias_->logical_axes = {options.out_axis};
  bias_->decays = false;
  Register("bias", &*bias_);
}

Tensor Linear::Forward(const Tensor& x, const ForwardMode& mode) const {
  Tensor y = lazy::MatMul(x, weight_.As(mode.compute), {.transpose_b = true});
  if (bias_.has_value()) y = lazy::Add(y, bias_->As(mode.compute));
  return adapter_ == nullptr ? y : adapter_->Forward(x, y, mode);
}

}  // namespace trencadis::nn
