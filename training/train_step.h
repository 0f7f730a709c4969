// TrainStep: one optimizer step of a causal language model: forward, backward, accumulation,
// clipping, update.
//
// The loss of a step is the sum of its token losses over the number of its target tokens, all micro
// batches together; so accumulating micro batches equals one big batch, whatever their lengths.
#ifndef TRENCADIS_TRAINING_TRAIN_STEP_H_
#define TRENCADIS_TRAINING_TRAIN_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/nn/parameter.h"
#include "models/zoo/causal_lm.h"
#include "runtime/lazy/context.h"
#include "runtime/lazy/ops.h"
#include "training/data/batch.h"
#include "training/optimizer.h"

namespace trencadis::training {

struct TrainStepOptions {
  DType compute = DType::kF32;
  bool gradient_checkpointing = false;
  // 0: no clipping.
  double max_grad_norm = 1.0;
  uint64_t seed = 42;
  // Marks a step between forward and backward (pipelining_fwd_bwd).
  bool mark_step_before_backward = false;
};

// Results on the device; reading them waits for the step.
struct TrainStepResult {
  lazy::Tensor loss;       // f32 scalar: mean over the step's target tokens
  lazy::Tensor grad_norm;  // f32 scalar, before clipping
};

class TrainStep {
 public:
  // `trainable`: the parameters to update, with values; the model and they outlive this.
  TrainStep(lazy::Context& context, zoo::CausalLm& model, std::vector<nn::NamedParameter> trainable,
            const AdamWOptions& optimizer, const TrainStepOptions& options);

  // Records one step over `micro_batches`; the caller marks it, with whatever it adds to the
  // results. InvalidArgument when they have no target token; on an error no parameter has changed,
  // or the context has failed.
  absl::StatusOr<TrainStepResult> Run(absl::Span<const HostBatch> micro_batches,
                                      double learning_rate);

  // Gradients of the mean loss, in the order of the trainable parameters, without an update.
  absl::StatusOr<std::vector<lazy::Tensor>> Gradients(absl::Span<const HostBatch> micro_batches,
                                                      lazy::Tensor* loss);

  AdamW& optimizer() { return optimizer_; }

 private:
  absl::StatusOr<std::vector<lazy::Tensor>> MicroGradients(const HostBatch& batch,
                                                           const lazy::Tensor& scale,
                                                           lazy::Tensor* loss);

  lazy::Context& context_;
  zoo::CausalLm& model_;
  const TrainStepOptions options_;
  std::vector<nn::NamedParameter> trainable_;
  AdamW optimizer_;
};

// Sum of the losses of `batch`'s target tokens and how many of them the model would have chosen,
// without gradients or dropout, on the device.
absl::StatusOr<lazy::LossAndHits> EvaluateBatch(lazy::Context& context, zoo::CausalLm& model,
                                                const HostBatch& batch, DType compute);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_TRAIN_STEP_H_
