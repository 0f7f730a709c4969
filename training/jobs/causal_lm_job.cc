#include "training/jobs/causal_lm_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/hf_writer.h"
#include "models/checkpoint/peft.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/tokenizers/save_tokenizer.h"
#include "models/zoo/load_model.h"
#include "runtime/base/file.h"
#include "runtime/base/logging.h"
#include "runtime/base/status.h"
#include "training/data/rows.h"
#include "training/jobs/batch_dump.h"
#include "training/jobs/data_files.h"
#include "training/jobs/resume.h"
#include "training/jobs/training_options.h"

namespace trencadis::training {
namespace {

constexpr int64_t kLargestDefaultBlock = 1024;
// Rows that are neither packed nor padded in full have lengths rounded up to this, so that their
// lengths give a handful of recipes.
constexpr int64_t kLengthBucket = 64;

template <typename Tool>
CausalLmOptions Common(const Tool& tool, const schema::FinetuneOptions* finetune) {
  return {tool.model(), tool.data(), tool.training(), tool.runtime(), finetune};
}

adapters::LoraOptions LoraOptionsOf(const schema::FinetuneOptions& finetune) {
  adapters::LoraOptions lora{finetune.lora_rank(), finetune.lora_alpha(), finetune.lora_dropout()};
  lora.target_modules = {finetune.lora_target_modules().begin(),
                         finetune.lora_target_modules().end()};
  if (lora.target_modules.empty()) lora.target_modules = {"q_proj", "v_proj"};
  return lora;
}

void KeepFirst(std::vector<Example>& rows, bool limited, int64_t limit) {
  if (limited && static_cast<int64_t>(rows.size()) > limit) rows.resize(limit);
}

}  // namespace

CausalLmOptions CausalLmOptions::Of(const schema::RunClm& tool) { return Common(tool, nullptr); }

CausalLmOptions CausalLmOptions::Of(const schema::RunLoraClm& tool) {
  return Common(tool, &tool.finetune());
}

absl::StatusOr<std::unique_ptr<CausalLmJob>> CausalLmJob::Create(Session& session,
                                                                 const CausalLmOptions& options) {
  std::unique_ptr<CausalLmJob> job(new CausalLmJob(session, options));
  TRENCADIS_RETURN_IF_ERROR(job->OpenModel());
  TRENCADIS_RETURN_IF_ERROR(job->ReadData());
  TRENCADIS_RETURN_IF_ERROR(job->LoadValues());
  return job;
}

absl::Status CausalLmJob::OpenModel() {
  const schema::ModelOptions& model = options_.model;
  if (model.has_model_name_or_path()) {
    TRENCADIS_ASSIGN_OR_RETURN(source_, checkpoint::OpenModel(model.model_name_or_path()));
    config_ = source_->config;
    tokenizer_path_ = source_->tokenizer_path;
  } else if (model.has_config_name()) {
    FileSystem& files = RealFileSystem();
    const std::string path = files.IsDirectory(model.config_name())
                                 ? JoinPath(model.config_name(), "config.json")
                                 : model.config_name();
    TRENCADIS_ASSIGN_OR_RETURN(config_, checkpoint::ReadModelConfig(path));
    tokenizer_path_ = DirectoryOf(path);
  } else {
    return absl::InvalidArgumentError(
        "no model: give --model_name_or_path, or --config_name to train one from random weights");
  }
  if (model.has_tokenizer_name()) tokenizer_path_ = model.tokenizer_name();
  TRENCADIS_ASSIGN_OR_RETURN(tokenizer_, tokenizers::LoadTokenizer(tokenizer_path_));
  if (tokenizer_->vocab_size() > config_.vocab_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer ", tokenizer_path_, " has ", tokenizer_->vocab_size(),
                     " tokens, the model's vocabulary ", config_.vocab_size,
                     ": they do not belong together; see --tokenizer_name"));
  }
  TRENCADIS_ASSIGN_OR_RETURN(model_, zoo::CreateCausalLm(config_));
  if (options_.finetune == nullptr) return absl::OkStatus();
  TRENCADIS_ASSIGN_OR_RETURN(lora_, adapters::AddLora(*model_, LoraOptionsOf(*options_.finetune)));
  return absl::OkStatus();
}

absl::Status CausalLmJob::LoadValues() {
  const auto seed = static_cast<uint64_t>(options_.training.seed());
  lazy::Context& context = session_.context();
  const std::vector<nn::NamedParameter> parameters = model_->Parameters();
  if (source_.has_value()) {
    TRENCADIS_RETURN_IF_ERROR(
        zoo::LoadParameters(context, parameters, *source_->tensors, session_.compute()));
  } else {
    TRENCADIS_RETURN_IF_ERROR(
        zoo::InitializeParameters(context, parameters, seed, session_.compute()));
  }
  return zoo::InitializeParameters(context, adapters::LoraParameters(lora_), seed,
                                   session_.compute());
}

int64_t CausalLmJob::RowLength() const {
  const int64_t context_length = config_.max_position_embeddings;
  if (options_.finetune != nullptr) {
    return std::min<int64_t>(options_.data.max_seq_length(), context_length);
  }
  if (options_.data.has_block_size()) {
    return std::min<int64_t>(options_.data.block_size(), context_length);
  }
  return std::min(kLargestDefaultBlock, context_length);
}

absl::StatusOr<std::vector<Example>> CausalLmJob::Rows(const std::vector<Record>& records) const {
  if (options_.finetune == nullptr) return TextBlocks(records, *tokenizer_, RowLength());
  TRENCADIS_ASSIGN_OR_RETURN(
      std::vector<Example> rows,
      RecordRows(records, *tokenizer_, RowLength(), options_.finetune->train_on_inputs()));
  if (options_.data.dataset_concatenation()) rows = PackRows(rows, RowLength());
  return rows;
}

absl::Status CausalLmJob::ReadData() {
  TRENCADIS_ASSIGN_OR_RETURN(const DataSplits splits, ReadDataFiles(options_.data));
  TRENCADIS_ASSIGN_OR_RETURN(training_, Rows(splits.training));
  TRENCADIS_ASSIGN_OR_RETURN(evaluation_, Rows(splits.evaluation));
  KeepFirst(training_, options_.data.has_max_train_samples(), options_.data.max_train_samples());
  KeepFirst(evaluation_, options_.data.has_max_eval_samples(), options_.data.max_eval_samples());
  if (options_.training.do_train() && training_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the training data gives no row of ", RowLength(),
                     " tokens; give more data or a smaller --block_size"));
  }
  const bool evaluates = options_.training.do_eval() || options_.training.eval_strategy() != "no";
  if (evaluates && evaluation_.empty()) {
    return absl::InvalidArgumentError(
        "evaluation is asked for and there is no evaluation data: give --validation_file or "
        "--validation_split_percentage");
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainerOptions> CausalLmJob::MakeTrainerOptions() const {
  TRENCADIS_ASSIGN_OR_RETURN(TrainerOptions options, TrainerOptionsOf(options_.training));
  options.step.compute = session_.compute();
  options.step.mark_step_before_backward = options_.runtime.pipelining_fwd_bwd();
  const schema::DataOptions& data = options_.data;
  const bool padded_in_full = data.pad_to_max_length() || data.dataset_concatenation();
  options.collate.pad_to_length = padded_in_full ? RowLength() : 0;
  options.collate.pad_to_multiple =
      padded_in_full || options_.finetune == nullptr ? 1 : std::min(kLengthBucket, RowLength());
  const tokenizers::SpecialTokens& special = tokenizer_->special_tokens();
  options.collate.pad_token = special.pad.value_or(special.eos.value_or(0));
  return options;
}

std::vector<nn::NamedParameter> CausalLmJob::Trainable() {
  return options_.finetune != nullptr ? adapters::LoraParameters(lora_) : model_->Parameters();
}

absl::StatusOr<TrainerHooks> CausalLmJob::MakeHooks(const CausalLmEvents& events) {
  TrainerHooks hooks;
  hooks.save_model = [this](const std::string& directory) { return SaveModel(directory); };
  hooks.on_log = events.on_log;
  if (events.dump_batches_path.empty()) return hooks;
  TRENCADIS_ASSIGN_OR_RETURN(const std::shared_ptr<BatchDump> steps,
                             BatchDump::Create(events.dump_batches_path));
  TRENCADIS_ASSIGN_OR_RETURN(const std::shared_ptr<BatchDump> evaluation,
                             BatchDump::Create(absl::StrCat(events.dump_batches_path, ".eval")));
  hooks.on_batches = [steps](int64_t step, absl::Span<const HostBatch> batches) {
    return steps->Append(step, batches);
  };
  hooks.on_evaluation_batch = [evaluation, next = int64_t{0}](
                                  int64_t number, const HostBatch& batch) mutable -> absl::Status {
    // Every evaluation has the same batches.
    if (number < next) return absl::OkStatus();
    next = number + 1;
    return evaluation->Append(number, {&batch, 1});
  };
  return hooks;
}

absl::StatusOr<Metrics> CausalLmJob::Run(const CausalLmEvents& events) {
  const schema::TrainingOptions& training = options_.training;
  TRENCADIS_RETURN_IF_ERROR(PrepareOutputDirectory(training));
  TRENCADIS_ASSIGN_OR_RETURN(TrainerOptions options, MakeTrainerOptions());
  TRENCADIS_ASSIGN_OR_RETURN(TrainerHooks hooks, MakeHooks(events));
  Trainer trainer(session_.context(), *model_, Trainable(), &training_,
                  evaluation_.empty() ? nullptr : &evaluation_, std::move(options), hooks);
  Metrics all;
  if (training.do_train()) {
    Announce(trainer);
    TRENCADIS_RETURN_IF_ERROR(ResumeAsAsked(training, trainer));
    TRENCADIS_ASSIGN_OR_RETURN(const Metrics results, trainer.Train());
    if (training.save_last_ckpt()) {
      TRENCADIS_RETURN_IF_ERROR(SaveModel(training.output_dir()));
      TRENCADIS_LOG(INFO) << "saved the " << (options_.finetune != nullptr ? "adapter" : "model")
                          << " in " << training.output_dir();
    }
    TRENCADIS_RETURN_IF_ERROR(SaveResults(training.output_dir(), "train", results));
    all.Merge(results);
  }
  if (training.do_eval()) {
    TRENCADIS_ASSIGN_OR_RETURN(Metrics results, trainer.Evaluate());
    results.Merge(MemoryMetrics(session_.device().memory_stats()));
    TRENCADIS_RETURN_IF_ERROR(SaveResults(training.output_dir(), "eval", results));
    all.Merge(results);
  }
  return all;
}

void CausalLmJob::Announce(const Trainer& trainer) {
  const auto elements = [](const std::vector<nn::NamedParameter>& parameters) {
    int64_t sum = 0;
    for (const auto& named : parameters) sum += named.parameter->shape.num_elements();
    return sum;
  };
  TRENCADIS_LOG(INFO) << "training " << elements(Trainable()) << " parameters of a "
                      << config_.model_type << " of " << elements(model_->Parameters()) << " on "
                      << training_.size() << " rows: " << trainer.total_steps() << " steps, "
                      << trainer.steps_per_epoch() << " per epoch";
}

absl::StatusOr<CausalLmJob::Rehearsal> CausalLmJob::Rehearse() {
  const schema::TrainingOptions& training = options_.training;
  TRENCADIS_ASSIGN_OR_RETURN(TrainerOptions options, MakeTrainerOptions());
  Trainer trainer(session_.context(), *model_, Trainable(), &training_,
                  evaluation_.empty() ? nullptr : &evaluation_, std::move(options), {});
  const bool evaluates = training.do_eval() || training.eval_strategy() != "no";
  Rehearsal rehearsal;
  rehearsal.steps = training.do_train() ? trainer.total_steps() : 0;
  TRENCADIS_ASSIGN_OR_RETURN(rehearsal.flops_per_step,
                             trainer.Rehearse(training.do_train(), evaluates));
  return rehearsal;
}

absl::Status CausalLmJob::SaveModel(const std::string& directory) {
  return options_.finetune != nullptr ? SaveAdapter(directory) : SaveFullModel(directory);
}

absl::Status CausalLmJob::SaveFullModel(const std::string& directory) {
  TRENCADIS_RETURN_IF_ERROR(checkpoint::WriteHfModel(
      directory, config_, ParametersToWrite(model_->Parameters(), SavedDType()), {}));
  const absl::Status saved = tokenizers::SaveTokenizer(tokenizer_path_, directory);
  if (!absl::IsUnimplemented(saved)) return saved;
  WarnOnce("tokenizer", absl::StrCat(saved.message(), "; use the model with --tokenizer_name ",
                                     tokenizer_path_));
  return absl::OkStatus();
}

DType CausalLmJob::SavedDType() const {
  const std::string& asked = options_.model.torch_dtype();
  const std::string& name = asked == "auto" ? config_.torch_dtype : asked;
  return name == "bfloat16" ? DType::kBF16 : DType::kF32;
}

absl::Status CausalLmJob::SaveAdapter(const std::string& directory) {
  const adapters::LoraOptions lora = LoraOptionsOf(*options_.finetune);
  checkpoint::PeftConfig config;
  config.base_model_name_or_path = options_.model.model_name_or_path();
  config.r = lora.rank;
  config.lora_alpha = lora.alpha;
  config.lora_dropout = lora.dropout;
  config.target_modules = lora.target_modules;
  return checkpoint::WritePeftAdapter(
      directory, config, ParametersToWrite(adapters::LoraParameters(lora_), DType::kF32));
}

}  // namespace trencadis::training
