#include "models/zoo/load_model.h"

#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/adapters/lora.h"
#include "models/checkpoint/peft.h"
#include "models/zoo/llama.h"
#include "runtime/base/logging.h"
#include "runtime/base/status.h"
#include "runtime/lazy/ops.h"

namespace trencadis::zoo {
namespace {

using lazy::Tensor;
using nn::Initializer;

DType StoredAs(const nn::Parameter& parameter, DType frozen_dtype) {
  return parameter.trainable ? DType::kF32 : frozen_dtype;
}

// Uniform numbers in [0, 1) for every element of `shape`; `stream` tells draws for one parameter
// apart.
Tensor Uniform(lazy::Context& context, const Shape& shape, uint64_t seed, int64_t parameter,
               int32_t stream) {
  const Shape flat{shape.num_elements()};
  const auto spread = [&](int32_t value) {
    return lazy::BroadcastTo(Tensor::FromHost(context, Literal::Scalar<int32_t>(value)), flat);
  };
  const Tensor element = lazy::Iota(context, {DType::kI32, flat}, 0);
  const Tensor uniform =
      lazy::Apply1("philox_uniform",
                   {element, spread(static_cast<int32_t>(parameter)), spread(stream), spread(-1),
                    spread(static_cast<int32_t>(seed)), spread(static_cast<int32_t>(seed >> 32))});
  return lazy::Reshape(uniform, shape.dims());
}

// Box and Muller, 1958.
Tensor Normal(lazy::Context& context, const Shape& shape, uint64_t seed, int64_t parameter) {
  const Tensor u = lazy::Sub(1.0, Uniform(context, shape, seed, parameter, 0));
  const Tensor v = Uniform(context, shape, seed, parameter, 1);
  const Tensor radius = lazy::Sqrt(lazy::Mul(lazy::Log(u), -2.0));
  return lazy::Mul(radius, lazy::Apply1("cos", {lazy::Mul(v, 2.0 * std::numbers::pi)}));
}

Tensor InitialValue(lazy::Context& context, const nn::Parameter& parameter, uint64_t seed,
                    int64_t number) {
  const Initializer& initializer = parameter.initializer;
  const TensorType type{DType::kF32, parameter.shape};
  switch (initializer.kind) {
    case Initializer::Kind::kOnes:
      return lazy::Full(context, type, 1);
    case Initializer::Kind::kNormal:
      return lazy::Mul(Normal(context, parameter.shape, seed, number), initializer.scale);
    case Initializer::Kind::kUniform: {
      const Tensor uniform = Uniform(context, parameter.shape, seed, number, 0);
      return lazy::Mul(lazy::Add(uniform, -0.5), 2 * initializer.scale);
    }
    default:
      return lazy::Zeros(context, type);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CausalLm>> CreateCausalLm(const checkpoint::ModelConfig& config) {
  if (config.model_type == "llama") return Llama::Create(config);
  return absl::InvalidArgumentError(
      absl::StrCat("model_type '", config.model_type, "' is not built; wanted llama"));
}

absl::Status LoadParameters(lazy::Context& context, absl::Span<const nn::NamedParameter> parameters,
                            const checkpoint::TensorSource& source, DType frozen_dtype) {
  std::set<std::string> unused;
  for (const checkpoint::TensorInfo& info : source.tensors()) unused.insert(info.name);
  for (const auto& [name, parameter] : parameters) {
    TRENCADIS_ASSIGN_OR_RETURN(const checkpoint::TensorInfo* info, source.Get(name));
    if (info->shape != parameter->shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", name, " has shape ", info->shape.ToString(), "; the configuration wants ",
          parameter->shape.ToString(), ": config.json belongs to another checkpoint"));
    }
    unused.erase(name);
    const DType dtype = StoredAs(*parameter, frozen_dtype);
    if (context.device().metering()) {
      parameter->value = Tensor::Uninitialised(context, {dtype, parameter->shape});
    } else {
      TRENCADIS_ASSIGN_OR_RETURN(const Literal value, source.Read(name, dtype));
      parameter->value = Tensor::FromHost(context, value);
    }
    TRENCADIS_RETURN_IF_ERROR(context.status());
    if (!parameter->trainable) parameter->value.Freeze();
  }
  if (!unused.empty()) {
    TRENCADIS_LOG(WARNING) << "the checkpoint has tensors that the model does not use: "
                           << absl::StrJoin(unused, ", ");
  }
  return absl::OkStatus();
}

absl::Status InitializeParameters(lazy::Context& context,
                                  absl::Span<const nn::NamedParameter> parameters, uint64_t seed,
                                  DType frozen_dtype) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    nn::Parameter& parameter = *parameters[i].parameter;
    const Tensor value = InitialValue(context, parameter, seed, static_cast<int64_t>(i));
    parameter.value = lazy::Convert(value, StoredAs(parameter, frozen_dtype));
    // One at a time: the workspace then holds the numbers of one parameter.
    TRENCADIS_RETURN_IF_ERROR(context.MarkStep());
    if (!parameter.trainable) parameter.value.Freeze();
  }
  return absl::OkStatus();
}

absl::Status AttachAdapter(lazy::Context& context, CausalLm& model, const std::string& directory,
                           DType dtype) {
  TRENCADIS_ASSIGN_OR_RETURN(const checkpoint::PeftAdapter adapter,
                             checkpoint::OpenPeftAdapter(directory));
  const checkpoint::PeftConfig& config = adapter.config;
  adapters::LoraOptions options{config.r, config.lora_alpha, config.lora_dropout};
  // PEFT's rank-stabilised form divides by the rank's root instead.
  if (config.use_rslora) options.alpha *= std::sqrt(static_cast<double>(config.r));
  options.target_modules = adapter.modules;
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<adapters::LoraSite> sites,
                             adapters::AddLora(model, options));
  const std::vector<nn::NamedParameter> parameters = adapters::LoraParameters(sites);
  for (const nn::NamedParameter& parameter : parameters) parameter.parameter->trainable = false;
  return LoadParameters(context, parameters, *adapter.tensors, dtype);
}

}  // namespace trencadis::zoo
