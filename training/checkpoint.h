// Checkpoints of a training run: directories "checkpoint-N" that appear whole or not at all.
//
// Each holds the model as the run's own save writes it, and training_state.safetensors (f32 masters
// and moments of every trainable parameter) with trainer_state.json (where the run stood), from
// which it continues bit for bit.
#ifndef TRENCADIS_TRAINING_CHECKPOINT_H_
#define TRENCADIS_TRAINING_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/nn/parameter.h"
#include "runtime/lazy/context.h"
#include "training/optimizer.h"

namespace trencadis::training {

// Where a run stands between two steps.
struct TrainingState {
  int64_t step = 0;  // optimizer steps done
  int64_t total_steps = 0;
  double total_loss = 0;      // sum of the steps' losses
  std::string configuration;  // what must be equal for the run to continue, as text
};

// Writes `directory`/checkpoint-`state.step` through a temporary directory that is renamed when
// complete. `save_model` writes the model into the directory that it is given. Without an
// `optimizer` that is all, and no run can continue from it.
absl::Status WriteCheckpoint(
    const std::string& directory, const TrainingState& state,
    const std::vector<nn::NamedParameter>& trainable, AdamW* optimizer,
    const std::function<absl::Status(const std::string& directory)>& save_model);

// Gives the trainable parameters and the optimizer what `checkpoint` holds. FailedPrecondition when
// it belongs to another configuration or other parameters, naming the difference; another error
// when a file is missing or damaged. Nothing is changed then.
absl::StatusOr<TrainingState> ReadCheckpoint(const std::string& checkpoint,
                                             const std::string& configuration,
                                             lazy::Context& context,
                                             const std::vector<nn::NamedParameter>& trainable,
                                             AdamW& optimizer);

// What a checkpoint's name begins with; the number of its steps follows.
inline constexpr absl::string_view kCheckpointPrefix = "checkpoint-";
// Steps of the checkpoints in `directory`, ascending.
absl::StatusOr<std::vector<int64_t>> ListCheckpoints(const std::string& directory);
std::string CheckpointPath(const std::string& directory, int64_t step);
// Keeps the newest `limit` checkpoints.
absl::Status RemoveOldCheckpoints(const std::string& directory, int64_t limit);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_CHECKPOINT_H_
