// AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019), as
// torch.optim.AdamW:
//   p -= rate * decay * p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g²
//   p -= rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
//
// Parameters, gradients and moments are f32. Updates are recorded like any op; old values are
// dropped, so the update happens in place.
#ifndef TRENCADIS_TRAINING_OPTIMIZER_H_
#define TRENCADIS_TRAINING_OPTIMIZER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "models/nn/parameter.h"
#include "runtime/lazy/context.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::training {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;  // of parameters that decay
};

class AdamW {
 public:
  // The state of one parameter, for checkpoints.
  struct Moments {
    std::string name;
    lazy::Tensor first;   // m
    lazy::Tensor second;  // v
  };

  // Moments start at zero. `parameters` have values and outlive the optimizer.
  AdamW(lazy::Context& context, std::vector<nn::NamedParameter> parameters,
        const AdamWOptions& options);

  // Replaces every parameter's value by its successor. `gradients` are in the parameters' order.
  void Step(absl::Span<const lazy::Tensor> gradients, double learning_rate);

  // Steps taken so far: t of the formula.
  int64_t step() const { return step_; }
  void set_step(int64_t step) { step_ = step; }
  std::vector<Moments>& moments() { return moments_; }

 private:
  lazy::Context& context_;
  const AdamWOptions options_;
  std::vector<nn::NamedParameter> parameters_;
  std::vector<Moments> moments_;
  int64_t step_ = 0;
};

// The 2-norm of all gradients together, f32 scalar.
lazy::Tensor GlobalNorm(absl::Span<const lazy::Tensor> gradients);

// Gradients times min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
std::vector<lazy::Tensor> ClipByNorm(absl::Span<const lazy::Tensor> gradients,
                                     const lazy::Tensor& norm, double max_norm);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_OPTIMIZER_H_
