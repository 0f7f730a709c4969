// ForwardMode: what a forward pass is for, handed down through the modules.
#ifndef TRENCADIS_MODELS_NN_FORWARD_MODE_H_
#define TRENCADIS_MODELS_NN_FORWARD_MODE_H_

#include <optional>

#include "models/nn/dropout.h"
#include "runtime/autograd/tape.h"
#include "runtime/core/dtype.h"

namespace trencadis::nn {

struct ForwardMode {
  // Of products and the residual stream. Norms, softmax statistics and the loss are f32 in either.
  DType compute = DType::kF32;
  // Present while training: dropout is on.
  std::optional<Randomness> randomness;
  // Not null: each layer's inside is computed again in the backward pass (gradient checkpointing).
  autograd::Tape* checkpointing = nullptr;
};

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_FORWARD_MODE_H_
