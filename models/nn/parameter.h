// Parameter: one named weight of a model, before and after it has a value.
#ifndef TRENCADIS_MODELS_NN_PARAMETER_H_
#define TRENCADIS_MODELS_NN_PARAMETER_H_

#include <string>
#include <utility>
#include <vector>

#include "runtime/core/shape.h"
#include "runtime/lazy/ops.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::nn {

// How a parameter starts when no checkpoint gives its value.
struct Initializer {
  enum class Kind { kZeros, kOnes, kNormal, kUniform };
  Kind kind = Kind::kZeros;
  double scale = 0;  // standard deviation of kNormal; half width of kUniform
};

struct Parameter {
  Shape shape;
  // What each dimension is ("embed", "heads", "mlp", "vocab", ...): data for the sharding layer.
  std::vector<std::string> logical_axes;
  Initializer initializer;
  // Whether weight decay applies: to matrices, not to biases and norms.
  bool decays = true;
  // Trainable parameters keep an f32 master; frozen ones the compute dtype.
  bool trainable = true;
  // Null until loaded or initialised.
  lazy::Tensor value;

  // The value as `dtype`, for use in a product.
  lazy::Tensor As(DType dtype) const { return lazy::Convert(value, dtype); }
};

struct NamedParameter {
  std::string name;  // Hugging Face's: "model.layers.0.self_attn.q_proj.weight"
  Parameter* parameter;
};

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_PARAMETER_H_
