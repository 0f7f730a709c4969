// For tests: a tiny Llama in training on a device of its own.
#ifndef TRENCADIS_TRAINING_TESTING_H_
#define TRENCADIS_TRAINING_TESTING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/checkpoint/hf_config.h"
#include "models/zoo/causal_lm.h"
#include "runtime/lazy/testing.h"
#include "training/data/batch.h"
#include "training/data/dataset.h"
#include "training/train_step.h"

namespace trencadis::training {

// Two layers, four heads on two key-value heads, 64 ids.
checkpoint::ModelConfig TinyConfig();

// `count` rows of `tokens` ids below `vocabulary`, all of them targets; equal in every run.
std::vector<Example> RandomExamples(int64_t count, int64_t tokens, int64_t vocabulary);

struct TinyTrainingOptions {
  checkpoint::ModelConfig config = TinyConfig();
  int64_t rows = 2;  // of each micro batch
  int64_t tokens = 16;
  int64_t micro_batches = 1;
  bool lora = false;  // adapters on q_proj and v_proj, everything else frozen
  double lora_dropout = 0;
  TrainStepOptions step;
  lazy::ContextOptions context;
  DeviceOptions device;
};

class TinyTraining {
 public:
  // CHECKs that the options make a model.
  explicit TinyTraining(const TinyTrainingOptions& options);

  lazy::TestMachine& machine() { return machine_; }
  zoo::CausalLm& model() { return *model_; }
  // All parameters, or the adapters'.
  const std::vector<nn::NamedParameter>& trainable() const { return trainable_; }
  TrainStep& train_step() { return *step_; }

  // Takes one step and marks it; the loss is on the device.
  lazy::Tensor Step();

 private:
  lazy::TestMachine machine_;
  std::unique_ptr<zoo::CausalLm> model_;
  std::vector<nn::NamedParameter> trainable_;
  std::vector<HostBatch> batches_;
  std::optional<TrainStep> step_;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_TESTING_H_
