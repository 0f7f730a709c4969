// From files or from nothing to a model with values on a device.
#ifndef TRENCADIS_MODELS_ZOO_LOAD_MODEL_H_
#define TRENCADIS_MODELS_ZOO_LOAD_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/checkpoint/hf_config.h"
#include "models/checkpoint/tensor_source.h"
#include "models/nn/parameter.h"
#include "models/zoo/causal_lm.h"
#include "runtime/lazy/context.h"

namespace trencadis::zoo {

// The model that `config` describes, its parameters without values. InvalidArgument naming the
// model_type when no such model is built.
absl::StatusOr<std::unique_ptr<CausalLm>> CreateCausalLm(const checkpoint::ModelConfig& config);

// Gives each parameter the tensor of its name: f32 if it is trainable, `frozen_dtype` and frozen
// otherwise. NotFound or InvalidArgument when one is missing or has another shape; tensors that no
// parameter wants are named once in the log.
absl::Status LoadParameters(lazy::Context& context, absl::Span<const nn::NamedParameter> parameters,
                            const checkpoint::TensorSource& source, DType frozen_dtype);

// Gives each parameter a random start by its initializer. Values follow from `seed` and the
// parameter's number alone.
absl::Status InitializeParameters(lazy::Context& context,
                                  absl::Span<const nn::NamedParameter> parameters, uint64_t seed,
                                  DType frozen_dtype);

// Puts the LoRA adapter in `directory` (as PEFT saves it) on `model`, for inference: its parameters
// become frozen, in `dtype`. Call before or after loading the model's own values.
absl::Status AttachAdapter(lazy::Context& context, CausalLm& model, const std::string& directory,
                           DType dtype);

}  // namespace trencadis::zoo

#endif  // TRENCADIS_MODELS_ZOO_LOAD_MODEL_H_
