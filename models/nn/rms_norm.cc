#include "models/nn/rms_norm.h"

#include "runtime/lazy/ops.h"

namespace trencadis::nn {

using lazy::Tensor;

RmsNorm::RmsNorm(int64_t width, double epsilon) : epsilon_(epsilon) {
  weight_.shape = Shape{width};
  weight_.logical_axes = {"embed"};
  weight_.initializer = {Initializer::Kind::kOnes};
  weight_.decays = false;
  Register("weight", &weight_);
}

Tensor RmsNorm::Forward(const Tensor& x, const ForwardMode& mode) const {
  const Tensor wide = lazy::Convert(x, DType::kF32);
  const Tensor mean_square = lazy::ReduceMean(lazy::Mul(wide, wide), {-1}, /*keep_dims=*/true);
  const Tensor normalised = lazy::Mul(wide, lazy::Rsqrt(lazy::Add(mean_square, epsilon_)));
  return lazy::Mul(lazy::Convert(normalised, mode.compute), weight_.As(mode.compute));
}

}  // namespace trencadis::nn
