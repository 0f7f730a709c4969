#include "models/nn/embedding.h"

#include "runtime/lazy/ops.h"

namespace trencadis::nn {

Embedding::Embedding(int64_t rows, int64_t width, double initializer_std) {
  weight_.shape = Shape{rows, width};
  weight_.logical_axes = {"vocab", "embed"};
  weight_.initializer = {Initializer::Kind::kNormal, initializer_std};
  Register("weight", &weight_);
}

lazy::Tensor Embedding::Forward(const lazy::Tensor& ids, const ForwardMode& mode) const {
  // The rows are converted, not the table.
  return lazy::Convert(lazy::Take(weight_.value, ids), mode.compute);
}

}  // namespace trencadis::nn
