#include "training/trainer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/clock.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/logging.h"
#include "runtime/base/progress.h"
#include "runtime/base/status.h"
#include "runtime/lazy/ops.h"
#include "training/checkpoint.h"

namespace trencadis::training {
namespace {

using lazy::Tensor;

absl::StatusOr<double> HostScalar(const Tensor& tensor) {
  TRENCADIS_ASSIGN_OR_RETURN(const Literal literal, tensor.ToHost());
  return literal.AsDouble(0);
}

// Where a sum over steps starts: as a tensor, so that every step has the same recipe.
Tensor Scalar(lazy::Context& context, double value) {
  return Tensor::FromHost(context, Literal::Scalar<float>(static_cast<float>(value)));
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t TokensOf(absl::Span<const HostBatch> batches) {
  int64_t tokens = 0;
  for (const HostBatch& batch : batches) tokens += batch.ids.num_elements();
  return tokens;
}

std::string ShapesOf(absl::Span<const HostBatch> batches) {
  std::string text;
  for (const HostBatch& batch : batches) {
    absl::StrAppend(&text, batch.ids.shape().ToString(), batch.segments.has_value() ? "s" : "",
                    batch.positions.has_value() ? "p" : "", " ");
  }
  return text;
}

int64_t SamplesOf(absl::Span<const HostBatch> batches) {
  int64_t samples = 0;
  for (const HostBatch& batch : batches) samples += batch.num_samples;
  return samples;
}

}  // namespace

bool Interval::After(int64_t step, int64_t total_steps, int64_t steps_per_epoch) const {
  if (kind == Kind::kNo) return false;
  if (kind == Kind::kEpoch) {
    return step % steps_per_epoch == 0 && static_cast<double>(step / steps_per_epoch) >= delay;
  }
  const double wanted = steps < 1 ? std::ceil(steps * static_cast<double>(total_steps)) : steps;
  const auto period = std::max<int64_t>(1, static_cast<int64_t>(wanted));
  return step % period == 0 && static_cast<double>(step) >= delay;
}

Trainer::Trainer(lazy::Context& context, zoo::CausalLm& model,
                 std::vector<nn::NamedParameter> trainable, const std::vector<Example>* training,
                 const std::vector<Example>* evaluation, TrainerOptions options, TrainerHooks hooks)
    : context_(context),
      model_(model),
      trainable_(std::move(trainable)),
      training_(*training),
      evaluation_(evaluation),
      options_(std::move(options)),
      hooks_(std::move(hooks)) {
  schedule_.kind = options_.schedule;
  schedule_.base_rate = options_.learning_rate;
  schedule_.total_steps = total_steps();
  schedule_.warmup_steps =
      WarmupSteps(options_.warmup_steps, options_.warmup_ratio, schedule_.total_steps);
}

TrainStep& Trainer::train_step() {
  if (!train_step_.has_value()) {
    train_step_.emplace(context_, model_, trainable_, options_.optimizer, options_.step);
  }
  return *train_step_;
}

// What decides the numbers of a step: a run may only continue one with the same.
std::string Trainer::Configuration() const {
  return absl::StrCat("batch ", options_.train_batch_size, " x ", options_.accumulation_steps,
                      ", examples ", samples_per_epoch(), ", data_seed ", options_.data_seed,
                      ", seed ", options_.step.seed, ", steps ", schedule_.total_steps, ", warmup ",
                      schedule_.warmup_steps, ", rate ", schedule_.base_rate, ", schedule ",
                      static_cast<int>(schedule_.kind), ", betas ", options_.optimizer.beta1, " ",
                      options_.optimizer.beta2, ", epsilon ", options_.optimizer.epsilon,
                      ", decay ", options_.optimizer.weight_decay, ", clip ",
                      options_.step.max_grad_norm, ", compute ", DTypeName(options_.step.compute));
}

int64_t Trainer::samples_per_epoch() const {
  const auto examples = static_cast<int64_t>(training_.size());
  return options_.drop_last_batch ? examples / options_.train_batch_size * options_.train_batch_size
                                  : examples;
}

int64_t Trainer::steps_per_epoch() const {
  return CeilDivide(CeilDivide(samples_per_epoch(), options_.train_batch_size),
                    options_.accumulation_steps);
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
  if (epoch != order_epoch_) {
    order_ = EpochOrder(static_cast<int64_t>(training_.size()), options_.data_seed, epoch);
    order_epoch_ = epoch;
  }
  const int64_t samples_per_step = options_.train_batch_size * options_.accumulation_steps;
  const int64_t begin = step % steps_per_epoch() * samples_per_step;
  const int64_t end = std::min(begin + samples_per_step, samples_per_epoch());
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
      ReadCheckpoint(checkpoint, Configuration(), context_, trainable_, train_step().optimizer()));
  first_step_ = logged_step_ = state.step;
  total_loss_before_ = state.total_loss;
  return absl::OkStatus();
}

absl::Status Trainer::RunStep(int64_t step, absl::Span<const HostBatch> batches) {
  TRENCADIS_ASSIGN_OR_RETURN(TrainStepResult result,
                             train_step().Run(batches, schedule_.RateAt(step)));
  grad_norm_ = result.grad_norm;
  total_loss_ = lazy::Add(total_loss_, result.loss);
  logged_loss_ = lazy::Add(logged_loss_, result.loss);
  return context_.MarkStep();
}

absl::StatusOr<Metrics> Trainer::Train() {
  if (total_steps() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no whole batch of ", options_.train_batch_size, " among ", training_.size(),
        " training rows; use a smaller batch, or keep the last batch"));
  }
  if (options_.evaluate_first && evaluation_ != nullptr && first_step_ == 0) {
    TRENCADIS_RETURN_IF_ERROR(EvaluateDuringTraining(0));
  }
  SpeedMeter speed(options_.throughput_warmup_steps);
  Progress progress({.label = "train", .total_steps = total_steps(), .first_step = first_step_});
  total_loss_ = Scalar(context_, total_loss_before_);
  logged_loss_ = Scalar(context_, 0);
  for (int64_t step = first_step_; step < total_steps(); ++step) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<HostBatch> batches, StepBatches(step));
    TRENCADIS_RETURN_IF_ERROR(RunStep(step, batches));
    speed.CountStep(SamplesOf(batches), TokensOf(batches));
    if (options_.show_progress) progress.Update(step + 1, last_loss_, TokensOf(batches));
    TRENCADIS_RETURN_IF_ERROR(AfterStep(step + 1, speed));
  }
  TRENCADIS_RETURN_IF_ERROR(context_.Synchronize());
  Metrics metrics;
  metrics.Set("epoch", Rounded(EpochAt(total_steps()), 2));
  metrics.Merge(speed.Results("train", options_.report_tokens_per_second));
  TRENCADIS_ASSIGN_OR_RETURN(const double total_loss, TotalLoss());
  metrics.Set("train_loss", total_loss / static_cast<double>(total_steps()));
  metrics.Merge(MemoryMetrics(context_.device().memory_stats()));
  return metrics;
}

absl::StatusOr<double> Trainer::TotalLoss() {
  if (!total_loss_.defined()) return total_loss_before_;
  return HostScalar(total_loss_);
}

Trainer::Due Trainer::DueAfter(int64_t step) const {
  const int64_t total = total_steps();
  const int64_t epoch = steps_per_epoch();
  Due due;
  due.log = options_.logging.After(step, total, epoch) || (options_.log_first_step && step == 1);
  due.evaluation = evaluation_ != nullptr && options_.evaluation.After(step, total, epoch);
  due.saving = options_.saving.After(step, total, epoch);
  return due;
}

absl::Status Trainer::AfterStep(int64_t step, SpeedMeter& speed) {
  const Due due = DueAfter(step);
  // Work that was issued before belongs to the steps.
  if (options_.adjust_throughput && due.any()) TRENCADIS_RETURN_IF_ERROR(context_.Synchronize());
  const double start_s = MonotonicClock().NowSeconds();
  if (due.log) TRENCADIS_RETURN_IF_ERROR(Log(step));
  const absl::Status evaluated = due.evaluation ? EvaluateDuringTraining(step) : absl::OkStatus();
  // An interrupt of the evaluation still saves what was trained before.
  if (!evaluated.ok() && !absl::IsCancelled(evaluated)) return evaluated;
  const bool interrupted = Interrupted() && step < total_steps();
  if (interrupted || due.saving) TRENCADIS_RETURN_IF_ERROR(SaveCheckpoint(step));
  if (options_.adjust_throughput) speed.LeaveOut(MonotonicClock().NowSeconds() - start_s);
  if (!interrupted) return absl::OkStatus();
  TRENCADIS_LOG(INFO) << "interrupted; continue with --resume_from_checkpoint "
                      << CheckpointPath(options_.output_dir, step);
  return InterruptStatus();
}

absl::Status Trainer::EvaluateDuringTraining(int64_t step) {
  TRENCADIS_ASSIGN_OR_RETURN(Metrics metrics, Evaluate());
  metrics.Set("epoch", Rounded(EpochAt(step), 2));
  metrics.Set("step", static_cast<double>(step));
  if (hooks_.on_log != nullptr) hooks_.on_log(metrics);
  return absl::OkStatus();
}

absl::Status Trainer::Log(int64_t step) {
  TRENCADIS_ASSIGN_OR_RETURN(const double loss_sum, HostScalar(logged_loss_));
  TRENCADIS_ASSIGN_OR_RETURN(const double grad_norm, HostScalar(grad_norm_));
  last_loss_ = loss_sum / static_cast<double>(step - logged_step_);
  logged_loss_ = Scalar(context_, 0);
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
  const TrainingState state{step, total_steps(), total_loss, Configuration()};
  TRENCADIS_RETURN_IF_ERROR(WriteCheckpoint(
      options_.output_dir, state, trainable_,
      options_.save_only_model ? nullptr : &train_step().optimizer(), hooks_.save_model));
  if (!options_.save_total_limit.has_value()) return absl::OkStatus();
  return RemoveOldCheckpoints(options_.output_dir, *options_.save_total_limit);
}

int64_t Trainer::evaluation_batches() const {
  return CeilDivide(static_cast<int64_t>(evaluation_->size()), options_.eval_batch_size);
}

HostBatch Trainer::EvaluationBatch(int64_t number) const {
  const int64_t begin = number * options_.eval_batch_size;
  const int64_t end =
      std::min(begin + options_.eval_batch_size, static_cast<int64_t>(evaluation_->size()));
  std::vector<const Example*> rows;
  for (int64_t i = begin; i < end; ++i) rows.push_back(&(*evaluation_)[i]);
  return Collate(rows, begin, options_.collate);
}

absl::StatusOr<Metrics> Trainer::Evaluate() {
  TRENCADIS_CHECK(evaluation_ != nullptr);
  SpeedMeter speed(0);
  double loss_sum = 0, correct = 0;
  int64_t target_tokens = 0;
  Progress progress({.label = "eval", .total_steps = evaluation_batches()});
  for (int64_t number = 0; number < evaluation_batches(); ++number) {
    const HostBatch batch = EvaluationBatch(number);
    if (hooks_.on_evaluation_batch != nullptr) {
      TRENCADIS_RETURN_IF_ERROR(hooks_.on_evaluation_batch(number, batch));
    }
    TRENCADIS_ASSIGN_OR_RETURN(const lazy::LossAndHits score,
                               EvaluateBatch(context_, model_, batch, options_.step.compute));
    TRENCADIS_ASSIGN_OR_RETURN(const double batch_loss, HostScalar(score.loss_sum));
    TRENCADIS_ASSIGN_OR_RETURN(const double batch_correct, HostScalar(score.correct));
    loss_sum += batch_loss;
    correct += batch_correct;
    target_tokens += batch.target_tokens;
    speed.CountStep(batch.num_samples, batch.ids.num_elements());
    if (options_.show_progress) {
      progress.Update(number + 1, std::nullopt, batch.ids.num_elements());
    }
    TRENCADIS_RETURN_IF_ERROR(InterruptStatus());
  }
  Metrics metrics;
  const auto targets = static_cast<double>(std::max<int64_t>(1, target_tokens));
  const double loss = loss_sum / targets;
  metrics.Set("eval_loss", loss);
  metrics.Set("eval_accuracy", correct / targets);
  metrics.Merge(speed.Results("eval", options_.report_tokens_per_second));
  metrics.Set("eval_samples", static_cast<double>(evaluation_->size()));
  metrics.Set("perplexity", std::exp(loss));
  return metrics;
}

absl::StatusOr<double> Trainer::Rehearse(bool with_training, bool with_evaluation) {
  // Memory is at its peak in the second step: the first one's results are there.
  constexpr int64_t kFirstSteps = 3;
  std::set<std::string> met;
  double step_flops = 0;
  total_loss_ = Scalar(context_, 0);
  logged_loss_ = Scalar(context_, 0);
  for (int64_t step = 0; with_training && step < total_steps(); ++step) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<HostBatch> batches, StepBatches(step));
    if (!met.insert(ShapesOf(batches)).second && step >= kFirstSteps) continue;
    const double flops_before = context_.device().flops();
    TRENCADIS_RETURN_IF_ERROR(RunStep(step, batches));
    if (step == 0) step_flops = context_.device().flops() - flops_before;
  }
  for (int64_t i = 0; with_evaluation && i < evaluation_batches(); ++i) {
    const HostBatch batch = EvaluationBatch(i);
    if (!met.insert(absl::StrCat("evaluation ", ShapesOf({&batch, 1}))).second) continue;
    TRENCADIS_RETURN_IF_ERROR(
        EvaluateBatch(context_, model_, batch, options_.step.compute).status());
  }
  return step_flops;
}

}  // namespace trencadis::training
