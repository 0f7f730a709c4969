#include "training/train_step.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "models/nn/forward_mode.h"
#include "runtime/autograd/tape.h"
#include "runtime/base/status.h"

namespace trencadis::training {
namespace {

using lazy::Tensor;

std::optional<Tensor> OptionalTensor(lazy::Context& context,
                                     const std::optional<Literal>& literal) {
  if (!literal.has_value()) return std::nullopt;
  return Tensor::FromHost(context, *literal);
}

zoo::TokenBatch OnDevice(lazy::Context& context, const HostBatch& batch) {
  return {Tensor::FromHost(context, batch.ids), OptionalTensor(context, batch.segments),
          OptionalTensor(context, batch.positions)};
}

Tensor IntScalar(lazy::Context& context, int64_t value) {
  return Tensor::FromHost(context, Literal::Scalar<int32_t>(static_cast<int32_t>(value)));
}

}  // namespace

TrainStep::TrainStep(lazy::Context& context, zoo::CausalLm& model,
                     std::vector<nn::NamedParameter> trainable, const AdamWOptions& optimizer,
                     const TrainStepOptions& options)
    : context_(context),
      model_(model),
      options_(options),
      trainable_(trainable),
      optimizer_(context, std::move(trainable), optimizer) {}

absl::StatusOr<std::vector<Tensor>> TrainStep::MicroGradients(const HostBatch& batch,
                                                              const Tensor& scale, Tensor* loss) {
  autograd::Tape tape(context_);
  std::vector<Tensor> leaves;
  for (const nn::NamedParameter& parameter : trainable_) {
    leaves.push_back(parameter.parameter->value);
    tape.Watch(leaves.back());
  }
  nn::ForwardMode mode;
  mode.compute = options_.compute;
  mode.randomness = nn::Randomness{IntScalar(context_, static_cast<int64_t>(options_.seed)),
                                   IntScalar(context_, static_cast<int64_t>(options_.seed >> 32)),
                                   IntScalar(context_, optimizer_.step()),
                                   Tensor::FromHost(context_, batch.samples)};
  if (options_.gradient_checkpointing) mode.checkpointing = &tape;
  const Tensor labels = Tensor::FromHost(context_, batch.labels);
  *loss = lazy::Mul(model_.LossSum(OnDevice(context_, batch), labels, mode), scale);
  if (options_.mark_step_before_backward) TRENCADIS_RETURN_IF_ERROR(context_.MarkStep());
  return tape.Gradient(*loss, leaves);
}

absl::StatusOr<std::vector<Tensor>> TrainStep::Gradients(absl::Span<const HostBatch> micro_batches,
                                                         Tensor* loss) {
  int64_t target_tokens = 0;
  for (const HostBatch& batch : micro_batches) target_tokens += batch.target_tokens;
  if (target_tokens == 0) {
    return absl::InvalidArgumentError(
        "a training step has no token to learn: every label is masked; check the data with a "
        "longer "
        "max_seq_length");
  }
  const Tensor scale =
      Tensor::FromHost(context_, Literal::Scalar<float>(1.0f / static_cast<float>(target_tokens)));
  std::vector<Tensor> sums;
  for (size_t micro = 0; micro < micro_batches.size(); ++micro) {
    Tensor micro_loss;
    TRENCADIS_ASSIGN_OR_RETURN(std::vector<Tensor> gradients,
                               MicroGradients(micro_batches[micro], scale, &micro_loss));
    if (micro == 0) {
      sums = std::move(gradients);
      *loss = micro_loss;
    } else {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] = lazy::Add(sums[i], gradients[i]);
      *loss = lazy::Add(*loss, micro_loss);
    }
    // The last micro batch's step ends with the update.
    if (micro + 1 < micro_batches.size()) {
      micro_loss = Tensor();
      gradients.clear();
      TRENCADIS_RETURN_IF_ERROR(context_.MarkStep());
    }
  }
  return sums;
}

absl::StatusOr<TrainStepResult> TrainStep::Run(absl::Span<const HostBatch> micro_batches,
                                               double learning_rate) {
  TrainStepResult result;
  TRENCADIS_ASSIGN_OR_RETURN(std::vector<Tensor> gradients, Gradients(micro_batches, &result.loss));
  {
    lazy::LabelScope scope(context_, "clip");
    result.grad_norm = GlobalNorm(gradients);
    if (options_.max_grad_norm > 0) {
      gradients = ClipByNorm(gradients, result.grad_norm, options_.max_grad_norm);
    }
  }
  optimizer_.Step(gradients, learning_rate);
  return result;
}

absl::StatusOr<lazy::LossAndHits> EvaluateBatch(lazy::Context& context, zoo::CausalLm& model,
                                                const HostBatch& batch, DType compute) {
  nn::ForwardMode mode;
  mode.compute = compute;
  const Tensor labels = Tensor::FromHost(context, batch.labels);
  lazy::LossAndHits score = model.Score(OnDevice(context, batch), labels, mode);
  TRENCADIS_RETURN_IF_ERROR(context.MarkStep());
  return score;
}

}  // namespace trencadis::training
