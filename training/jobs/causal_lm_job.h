// CausalLmJob: the program behind run_clm and run_lora_clm, and behind the service's jobs: from
// options to a trained model or adapter with its results on disk.
#ifndef TRENCADIS_TRAINING_JOBS_CAUSAL_LM_JOB_H_
#define TRENCADIS_TRAINING_JOBS_CAUSAL_LM_JOB_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/schema/tools.pb.h"
#include "models/adapters/lora.h"
#include "models/checkpoint/model_directory.h"
#include "models/tokenizers/tokenizer.h"
#include "models/zoo/causal_lm.h"
#include "training/data/records.h"
#include "training/jobs/session.h"
#include "training/results.h"
#include "training/trainer.h"

namespace trencadis::training {

// The options of a job, with defaults applied. Views: the messages outlive it.
struct CausalLmOptions {
  const schema::ModelOptions& model;
  const schema::DataOptions& data;
  const schema::TrainingOptions& training;
  const schema::RuntimeOptions& runtime;
  const schema::FinetuneOptions* finetune;  // null: all weights are trained

  static CausalLmOptions Of(const schema::RunClm& tool);
  static CausalLmOptions Of(const schema::RunLoraClm& tool);
};

struct CausalLmEvents {
  // A line of the log.
  std::function<void(const Metrics&)> on_log;
  // Where the batches of every step are written, for parity checks; those of the first evaluation
  // go to the same path with ".eval". Empty: nowhere.
  std::string dump_batches_path;
};

class CausalLmJob {
 public:
  // Reads the model, the tokenizer and the data. InvalidArgument or NotFound for what the user must
  // change.
  static absl::StatusOr<std::unique_ptr<CausalLmJob>> Create(Session& session,
                                                             const CausalLmOptions& options);

  // Trains, evaluates and saves as the options say. All results together.
  absl::StatusOr<Metrics> Run(const CausalLmEvents& events);

  // What Run would do, on a metering session: every recipe is made and memory reaches its peak,
  // and nothing is written.
  struct Rehearsal {
    int64_t steps = 0;          // of the whole job
    double flops_per_step = 0;  // of its first step
  };
  absl::StatusOr<Rehearsal> Rehearse();

  zoo::CausalLm& model() { return *model_; }

 private:
  CausalLmJob(Session& session, const CausalLmOptions& options)
      : session_(session), options_(options) {}

  absl::Status OpenModel();
  absl::Status LoadValues();
  absl::Status ReadData();
  absl::StatusOr<std::vector<Example>> Rows(const std::vector<Record>& records) const;
  absl::StatusOr<TrainerOptions> MakeTrainerOptions() const;
  absl::StatusOr<TrainerHooks> MakeHooks(const CausalLmEvents& events);
  int64_t RowLength() const;
  std::vector<nn::NamedParameter> Trainable();
  // Says what is about to happen, for the log.
  void Announce(const Trainer& trainer);
  DType SavedDType() const;
  absl::Status SaveModel(const std::string& directory);
  absl::Status SaveFullModel(const std::string& directory);
  absl::Status SaveAdapter(const std::string& directory);

  Session& session_;
  const CausalLmOptions options_;
  checkpoint::ModelConfig config_;
  // Absent when training starts from a configuration alone.
  std::optional<checkpoint::ModelDirectory> source_;
  std::unique_ptr<tokenizers::Tokenizer> tokenizer_;
  std::string tokenizer_path_;
  std::unique_ptr<zoo::CausalLm> model_;
  std::vector<adapters::LoraSite> lora_;
  std::vector<Example> training_;
  std::vector<Example> evaluation_;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_JOBS_CAUSAL_LM_JOB_H_
