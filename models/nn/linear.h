// Linear: y = x Wᵀ + b, with room for an adapter beside the weight.
#ifndef TRENCADIS_MODELS_NN_LINEAR_H_
#define TRENCADIS_MODELS_NN_LINEAR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/nn/forward_mode.h"
#include "models/nn/module.h"

namespace trencadis::nn {

// What an adapter adds to a linear layer's output.
class LinearAdapter : public Module {
 public:
  // x [..., in], y = x Wᵀ + b [..., out]: the adapted output.
  virtual lazy::Tensor Forward(const lazy::Tensor& x, const lazy::Tensor& y,
                               const ForwardMode& mode) const = 0;
};

struct LinearOptions {
  int64_t in = 0;
  int64_t out = 0;
  bool bias = false;
  // Logical axes of the weight [out, in].
  std::string out_axis;
  std::string in_axis;
  double initializer_std = 0.02;
};

class Linear : public Module {
 public:
  explicit Linear(const LinearOptions& options);

  // x [..., in] in mode.compute: [..., out] in mode.compute.
  lazy::Tensor Forward(const lazy::Tensor& x, const ForwardMode& mode) const;

  int64_t in() const { return weight_.shape.dim(1); }
  int64_t out() const { return weight_.shape.dim(0); }
  // [out, in], named "weight".
  Parameter& weight() { return weight_; }

  // Not part of the parameter tree: adapters have names, files and training rules of their own.
  void SetAdapter(std::unique_ptr<LinearAdapter> adapter) { adapter_ = std::move(adapter); }
  LinearAdapter* adapter() const { return adapter_.get(); }

 private:
  Parameter weight_;
  std::optional<Parameter> bias_;
  std::unique_ptr<LinearAdapter> adapter_;
};

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_LINEAR_H_
