#include "training/jobs/training_options.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "training/jobs/resume.h"

namespace trencadis::training {
namespace {

// `strategy` is "no", "steps" or "epoch": the schema has checked.
Interval IntervalOf(const std::string& strategy, double steps) {
  if (strategy == "steps" && steps > 0) return {Interval::Kind::kSteps, steps};
  if (strategy == "epoch") return {Interval::Kind::kEpoch, 0};
  return {};
}

}  // namespace

absl::StatusOr<TrainerOptions> TrainerOptionsOf(const schema::TrainingOptions& training) {
  TrainerOptions options;
  options.output_dir = training.output_dir();
  options.train_batch_size = training.per_device_train_batch_size();
  options.eval_batch_size = training.per_device_eval_batch_size();
  options.accumulation_steps = training.gradient_accumulation_steps();
  options.epochs = training.num_train_epochs();
  options.max_steps = training.max_steps();
  options.learning_rate = training.learning_rate();
  TRENCADIS_ASSIGN_OR_RETURN(options.schedule, ParseScheduleKind(training.lr_scheduler_type()));
  options.warmup_steps = training.warmup_steps();
  options.warmup_ratio = training.warmup_ratio();
  options.optimizer = {training.adam_beta1(), training.adam_beta2(), training.adam_epsilon(),
                       training.weight_decay()};
  options.step.gradient_checkpointing = training.gradient_checkpointing();
  options.step.max_grad_norm = training.max_grad_norm();
  options.step.seed = static_cast<uint64_t>(training.seed());
  options.data_seed =
      static_cast<uint64_t>(training.has_data_seed() ? training.data_seed() : training.seed());
  options.logging = IntervalOf(training.logging_strategy(), training.logging_steps());
  options.log_first_step = training.logging_first_step();
  options.evaluation =
      IntervalOf(training.eval_strategy(),
                 training.has_eval_steps() ? training.eval_steps() : training.logging_steps());
  options.evaluation.delay = training.eval_delay();
  options.evaluate_first = training.eval_on_start();
  options.saving = IntervalOf(training.save_strategy(), training.save_steps());
  options.save_only_model = training.save_only_model();
  if (training.has_save_total_limit()) options.save_total_limit = training.save_total_limit();
  options.drop_last_batch = training.dataloader_drop_last();
  options.throughput_warmup_steps = training.throughput_warmup_steps();
  options.adjust_throughput = training.adjust_throughput();
  options.report_tokens_per_second = training.include_tokens_per_second();
  options.show_progress = !training.disable_tqdm();
  return options;
}

absl::Status PrepareOutputDirectory(const schema::TrainingOptions& training) {
  const std::string& directory = training.output_dir();
  FileSystem& files = RealFileSystem();
  if (training.do_train() && !training.overwrite_output_dir() && !ResumeIsAsked(training) &&
      files.Exists(JoinPath(directory, "all_results.json"))) {
    return absl::AlreadyExistsError(absl::StrCat(
        "--output_dir ", directory,
        " holds an earlier result; give another directory, or --overwrite_output_dir"));
  }
  return files.CreateDirectories(directory);
}

std::vector<checkpoint::TensorToWrite> ParametersToWrite(
    const std::vector<nn::NamedParameter>& parameters, DType dtype) {
  std::vector<checkpoint::TensorToWrite> tensors;
  for (const auto& [name, parameter] : parameters) {
    const lazy::Tensor value = parameter->value;
    const auto write = [value, dtype](checkpoint::ByteSink sink) -> absl::Status {
      TRENCADIS_ASSIGN_OR_RETURN(const Literal literal, value.ToHost());
      if (literal.dtype() == dtype) return sink(literal.bytes());
      return sink(literal.ConvertTo(dtype).bytes());
    };
    tensors.push_back({name, {dtype, value.shape()}, write});
  }
  return tensors;
}

}  // namespace trencadis::training
