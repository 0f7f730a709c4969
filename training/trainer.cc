#include "training/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/logging.h"
#include "runtime/base/progress.h"
#include "runtime/base/status.h"
#include "runtime/lazy/ops.h"
#include "training/checkpoint.h"
#include "training/speed.h"

namespace trencadis::training {
namespace {

using lazy::Tensor;

absl::StatusOr<double> HostScalar(const Tensor& tensor) {
  TRENCADIS_ASSIGN_OR_RETURN(const Literal literal, tensor.ToHost());
  return literal.AsDouble(0);
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Options that decide what a step computes: a run may only continue one with the same.
std::string ConfigurationText(const TrainerOptions& options, const LearningRateSchedule& schedule,
                              size_t examples) {
  return absl::StrCat("batch ", options.train_batch_size, " x ", options.accumulation_steps,
                      ", examples ", examples, ", data_seed ", options.data_seed, ", seed ",
                      options.step.seed, ", steps ", schedule.total_steps, ", warmup ",
                      schedule.warmup_steps, ", rate ", schedule.base_rate, ", schedule ",
                      static_cast<int>(schedule.kind), ", betas ", options.optimizer.beta1, " ",
                      options.optimizer.beta2, ", epsilon ", options.optimizer.epsilon, ", decay ",
                      options.optimizer.weight_decay, ", clip ", options.step.max_grad_norm,
                      ", compute ", DTypeName(options.step.compute));
}

}  // namespace

bool Interval::After(int64_t step, int64_t total_steps, bool ends_epoch) const {
  if (kind == Kind::kNo) return false;
  if (kind == Kind::kEpoch) return ends_epoch;
  const double wanted = steps < 1 ? std::ceil(steps * static_cast<double>(total_steps)) : steps;
  return step % std::max<int64_t>(1, static_cast<int64_t>(wanted)) == 0;
}

Trainer::Trainer(lazy::Context& context, zoo::CausalLm& model,
                 std::vector<nn::NamedParameter> trainable, const std::vector<Example>* training,
                 const std::vector<Example>* evaluation, TrainerOptions options, TrainerHooks hooks)
    : context_(context),
      model_(model),
      trainable_(trainable),
      training_(*training),
      evaluation_(evaluation),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      train_step_(context, model, std::move(trainable), options_.optimizer, options_.step) {
  schedule_.kind = options_.schedule;
  schedule_.base_rate = options_.learning_rate;
  schedule_.total_steps = total_steps();
  schedule_.warmup_steps =
      WarmupSteps(options_.warmup_steps, options_.warmup_ratio, schedule_.total_steps);
}

int64_t Trainer::steps_per_epoch() const {
  const auto examples = static_cast<int64_t>(training_.size());
  return CeilDivide(CeilDivide(examples, options_.train_batch_size), options_.accumulation_steps);
}

int64_t Trainer::total_steps() const {
  if (options_.max_steps > 0) return options_.max_steps;
  return static_cast<int64_t>(std::ceil(options_.epochs * static_cast<double>(steps_per_epoch())));
}

double Trainer::EpochAt(int64_t step) const {
  return static_cast<double>(step) / static_cast<double>(steps_per_epoch());
}

absl::StatusOr<std::vector<HostBatch>> Trainer::StepBatches(int64_t step) {
  const int64_t epoch = step / steps_per_epoch();
  const auto examples = static_cast<int64_t>(training_.size());
  if (epoch != order_epoch_) {
    order_ = EpochOrder(examples, options_.data_seed, epoch);
    order_epoch_ = epoch;
  }
  const int64_t samples_per_step = options_.train_batch_size * options_.accumulation_steps;
  const int64_t begin = step % steps_per_epoch() * samples_per_step;
  const int64_t end = std::min(begin + samples_per_step, examples);
  std::vector<HostBatch> batches;
  for (int64_t at = begin; at < end; at += options_.train_batch_size) {
    std::vector<const Example*> rows;
    for (int64_t i = at; i < std::min(at + options_.train_batch_size, end); ++i) {
      rows.push_back(&training_[order_[i]]);
    }
    batches.push_back(Collate(rows, at - begin, options_.collate));
  }
  if (hooks_.on_batches != nullptr) TRENCADIS_RETURN_IF_ERROR(hooks_.on_batches(step, batches));
  return batches;
}

absl::Status Trainer::Resume(const std::string& checkpoint) {
  TRENCADIS_ASSIGN_OR_RETURN(
      const TrainingState state,
      ReadCheckpoint(checkpoint, ConfigurationText(options_, schedule_, training_.size()), context_,
                     trainable_, train_step_.optimizer()));
  first_step_ = logged_step_ = state.step;
  total_loss_before_ = state.total_loss;
  return absl::OkStatus();
}

absl::StatusOr<Metrics> Trainer::Train() {
  SpeedMeter speed(options_.throughput_warmup_steps);
  Progress progress({.label = "train", .total_steps = total_steps(), .first_step = first_step_});
  total_loss_ = logged_loss_ = Tensor();
  for (int64_t step = first_step_; step < total_steps(); ++step) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<HostBatch> batches, StepBatches(step));
    TRENCADIS_ASSIGN_OR_RETURN(TrainStepResult result,
                               train_step_.Run(batches, schedule_.RateAt(step)));
    grad_norm_ = result.grad_norm;
    total_loss_ = total_loss_.defined() ? lazy::Add(total_loss_, result.loss) : result.loss;
    logged_loss_ = logged_loss_.defined() ? lazy::Add(logged_loss_, result.loss) : result.loss;
    TRENCADIS_RETURN_IF_ERROR(context_.MarkStep());
    int64_t samples = 0, tokens = 0;
    for (const HostBatch& batch : batches) {
      samples += batch.num_samples;
      tokens += batch.ids.num_elements();
    }
    speed.CountStep(samples, tokens);
    if (options_.show_progress) progress.Update(step + 1, last_loss_, tokens);
    TRENCADIS_RETURN_IF_ERROR(AfterStep(step + 1));
  }
  TRENCADIS_RETURN_IF_ERROR(context_.Synchronize());
  Metrics metrics;
  metrics.Set("epoch", Rounded(EpochAt(total_steps()), 2));
  metrics.Merge(speed.Results("train"));
  TRENCADIS_ASSIGN_OR_RETURN(const double total_loss, TotalLoss());
  metrics.Set("train_loss", total_loss / static_cast<double>(std::max<int64_t>(1, total_steps())));
  metrics.Merge(MemoryMetrics(context_.device().memory_stats()));
  return metrics;
}

absl::StatusOr<double> Trainer::TotalLoss() {
  if (!total_loss_.defined()) return total_loss_before_;
  TRENCADIS_ASSIGN_OR_RETURN(const double loss, HostScalar(total_loss_));
  return total_loss_before_ + loss;
}

absl::Status Trainer::AfterStep(int64_t step) {
  const bool ends_epoch = step % steps_per_epoch() == 0;
  const int64_t total = total_steps();
  if (options_.logging.After(step, total, ends_epoch)) TRENCADIS_RETURN_IF_ERROR(Log(step));
  if (evaluation_ != nullptr && options_.evaluation.After(step, total, ends_epoch)) {
    TRENCADIS_ASSIGN_OR_RETURN(Metrics metrics, Evaluate());
    metrics.Set("epoch", Rounded(EpochAt(step), 2));
    if (hooks_.on_log != nullptr) hooks_.on_log(metrics);
  }
  const bool interrupted = Interrupted() && step < total;
  if (interrupted || options_.saving.After(step, total, ends_epoch)) {
    TRENCADIS_RETURN_IF_ERROR(SaveCheckpoint(step));
  }
  if (!interrupted) return absl::OkStatus();
  TRENCADIS_LOG(INFO) << "interrupted; continue with --resume_from_checkpoint "
                      << CheckpointPath(options_.output_dir, step);
  return InterruptStatus();
}

absl::Status Trainer::Log(int64_t step) {
  TRENCADIS_ASSIGN_OR_RETURN(const double loss_sum, HostScalar(logged_loss_));
  TRENCADIS_ASSIGN_OR_RETURN(const double grad_norm, HostScalar(grad_norm_));
  last_loss_ = loss_sum / static_cast<double>(step - logged_step_);
  logged_loss_ = Tensor();
  logged_step_ = step;
  Metrics metrics;
  metrics.Set("loss", *last_loss_);
  metrics.Set("grad_norm", grad_norm);
  metrics.Set("learning_rate", schedule_.RateAt(step));
  metrics.Set("epoch", Rounded(EpochAt(step), 2));
  metrics.Set("step", static_cast<double>(step));
  metrics.Merge(MemoryMetrics(context_.device().memory_stats()));
  if (hooks_.on_log != nullptr) hooks_.on_log(metrics);
  return absl::OkStatus();
}

absl::Status Trainer::SaveCheckpoint(int64_t step) {
  TRENCADIS_ASSIGN_OR_RETURN(const double total_loss, TotalLoss());
  const TrainingState state{step, total_steps(), total_loss,
                            ConfigurationText(options_, schedule_, training_.size())};
  TRENCADIS_RETURN_IF_ERROR(WriteCheckpoint(options_.output_dir, state, trainable_,
                                            train_step_.optimizer(), hooks_.save_model));
  if (!options_.save_total_limit.has_value()) return absl::OkStatus();
  return RemoveOldCheckpoints(options_.output_dir, *options_.save_total_limit);
}

absl::StatusOr<Metrics> Trainer::Evaluate() {
  TRENCADIS_CHECK(evaluation_ != nullptr);
  SpeedMeter speed(0);
  double loss_sum = 0;
  int64_t target_tokens = 0;
  const auto examples = static_cast<int64_t>(evaluation_->size());
  Progress progress(
      {.label = "eval", .total_steps = CeilDivide(examples, options_.eval_batch_size)});
  for (int64_t at = 0; at < examples; at += options_.eval_batch_size) {
    std::vector<const Example*> rows;
    for (int64_t i = at; i < std::min(at + options_.eval_batch_size, examples); ++i) {
      rows.push_back(&(*evaluation_)[i]);
    }
    const HostBatch batch = Collate(rows, at, options_.collate);
    TRENCADIS_ASSIGN_OR_RETURN(const Tensor loss,
                               EvaluateBatch(context_, model_, batch, options_.step.compute));
    TRENCADIS_ASSIGN_OR_RETURN(const double sum, HostScalar(loss));
    loss_sum += sum;
    target_tokens += batch.target_tokens;
    speed.CountStep(batch.num_samples, batch.ids.num_elements());
    if (options_.show_progress) {
      progress.Update(at / options_.eval_batch_size + 1, std::nullopt, batch.ids.num_elements());
    }
    TRENCADIS_RETURN_IF_ERROR(InterruptStatus());
  }
  Metrics metrics;
  const double loss = loss_sum / static_cast<double>(std::max<int64_t>(1, target_tokens));
  metrics.Set("eval_loss", loss);
  metrics.Merge(speed.Results("eval"));
  metrics.Set("eval_samples", static_cast<double>(examples));
  metrics.Set("perplexity", std::exp(loss));
  return metrics;
}

}  // namespace trencadis::training
