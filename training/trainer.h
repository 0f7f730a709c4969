// Trainer: trains and evaluates a causal language model on datasets, with logs, evaluation and
// checkpoints.
//
// Deterministic: losses and weights follow from the options, the data and the initial weights,
// however often the run is interrupted and resumed. Used by the context's thread.
#ifndef TRENCADIS_TRAINING_TRAINER_H_
#define TRENCADIS_TRAINING_TRAINER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/nn/parameter.h"
#include "models/zoo/causal_lm.h"
#include "runtime/lazy/context.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/results.h"
#include "training/schedule.h"
#include "training/speed.h"
#include "training/train_step.h"

namespace trencadis::training {

// When something happens during training.
struct Interval {
  enum class Kind { kNo, kSteps, kEpoch };
  Kind kind = Kind::kNo;
  // Of kSteps: optimizer steps between two times; below 1 a part of all steps.
  double steps = 0;
  // Steps (kSteps) or epochs (kEpoch) before which it does not happen.
  double delay = 0;

  // Whether it happens after step `step` of `total_steps` (from 1).
  bool After(int64_t step, int64_t total_steps, int64_t steps_per_epoch) const;
};

struct TrainerOptions {
  std::string output_dir;
  int64_t train_batch_size = 8;
  int64_t eval_batch_size = 8;
  int64_t accumulation_steps = 1;
  double epochs = 3;
  int64_t max_steps = -1;  // in place of epochs when positive
  double learning_rate = 5e-5;
  ScheduleKind schedule = ScheduleKind::kLinear;
  int64_t warmup_steps = 0;
  double warmup_ratio = 0;
  AdamWOptions optimizer;
  TrainStepOptions step;
  uint64_t data_seed = 42;
  // Leaves out an epoch's last micro batch where it is not full.
  bool drop_last_batch = false;
  CollateOptions collate;
  Interval logging;
  bool log_first_step = false;
  Interval evaluation;
  bool evaluate_first = false;  // before the first step
  Interval saving;
  bool save_only_model = false;
  std::optional<int64_t> save_total_limit;
  int64_t throughput_warmup_steps = 0;
  // Leaves logging, evaluation and saving out of the throughput.
  bool adjust_throughput = false;
  bool report_tokens_per_second = false;
  bool show_progress = true;
};

// What the program around the trainer does at its events.
struct TrainerHooks {
  // Writes the model (adapter or whole) into an existing directory.
  std::function<absl::Status(const std::string& directory)> save_model;
  // A line of the log: loss, learning_rate, epoch, memory.
  std::function<void(const Metrics&)> on_log;
  // The batches of each step before it runs, and of an evaluation, by number.
  std::function<absl::Status(int64_t step, absl::Span<const HostBatch>)> on_batches;
  std::function<absl::Status(int64_t number, const HostBatch&)> on_evaluation_batch;
};

class Trainer {
 public:
  // Everything is borrowed and outlives the trainer. `evaluation` may be null.
  Trainer(lazy::Context& context, zoo::CausalLm& model, std::vector<nn::NamedParameter> trainable,
          const std::vector<Example>* training, const std::vector<Example>* evaluation,
          TrainerOptions options, TrainerHooks hooks);

  // Continues from `checkpoint`, a directory that an equal run wrote: FailedPrecondition when
  // another run did, any other error when it is damaged; nothing is changed then. Call before
  // Train.
  absl::Status Resume(const std::string& checkpoint);

  // Trains to the end, or until interrupted (Cancelled, after a checkpoint). Results:
  // epoch, train_runtime and rates, train_loss, memory.
  absl::StatusOr<Metrics> Train();

  // eval_loss (total loss over total target tokens), eval_accuracy (share of target tokens that
  // the model would have chosen), eval_samples, perplexity, eval_runtime and rates.
  absl::StatusOr<Metrics> Evaluate();

  // Takes the first steps, and each later one and each evaluation batch whose shapes have not been
  // met, without logs or checkpoints. On a metering device that meets every recipe and the memory
  // peak of Train and Evaluate. Returns the floating-point operations of the first step.
  absl::StatusOr<double> Rehearse(bool with_training, bool with_evaluation);

  int64_t steps_per_epoch() const;
  int64_t total_steps() const;

 private:
  // What is due after a step.
  struct Due {
    bool log = false;
    bool evaluation = false;
    bool saving = false;
    bool any() const { return log || evaluation || saving; }
  };

  // Made at first use: evaluation alone needs no optimizer state.
  TrainStep& train_step();
  std::string Configuration() const;
  int64_t samples_per_epoch() const;
  absl::StatusOr<std::vector<HostBatch>> StepBatches(int64_t step);
  absl::Status RunStep(int64_t step, absl::Span<const HostBatch> batches);
  HostBatch EvaluationBatch(int64_t number) const;
  int64_t evaluation_batches() const;
  Due DueAfter(int64_t step) const;
  absl::Status AfterStep(int64_t step, SpeedMeter& speed);
  absl::Status Log(int64_t step);
  absl::Status EvaluateDuringTraining(int64_t step);
  absl::Status SaveCheckpoint(int64_t step);
  // Sum of all steps' losses, those before a resume included.
  absl::StatusOr<double> TotalLoss();
  double EpochAt(int64_t step) const;

  lazy::Context& context_;
  zoo::CausalLm& model_;
  const std::vector<nn::NamedParameter> trainable_;
  const std::vector<Example>& training_;
  const std::vector<Example>* evaluation_;
  const TrainerOptions options_;
  const TrainerHooks hooks_;
  LearningRateSchedule schedule_;
  std::optional<TrainStep> train_step_;
  std::vector<int64_t> order_;  // of the epoch below
  int64_t order_epoch_ = -1;
  // Sums since the last log line and since the start, on the device.
  lazy::Tensor logged_loss_;
  lazy::Tensor total_loss_;
  lazy::Tensor grad_norm_;
  double total_loss_before_ = 0;  // of the steps before a resume: where total_loss_ starts
  std::optional<double> last_loss_;
  int64_t logged_step_ = 0;
  int64_t first_step_ = 0;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_TRAINER_H_
