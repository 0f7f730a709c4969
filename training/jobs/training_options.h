// What the schema's training options mean to the trainer, and what they ask of the output
// directory.
#ifndef TRENCADIS_TRAINING_JOBS_TRAINING_OPTIONS_H_
#define TRENCADIS_TRAINING_JOBS_TRAINING_OPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/schema/training.pb.h"
#include "models/checkpoint/safetensors_writer.h"
#include "models/nn/parameter.h"
#include "training/trainer.h"

namespace trencadis::training {

// All that follows from the training options alone; compute dtype and collation are the job's.
absl::StatusOr<TrainerOptions> TrainerOptionsOf(const schema::TrainingOptions& training);

// Makes the output directory. AlreadyExists when it holds an earlier result that a training run
// would overwrite without --overwrite_output_dir or --resume_from_checkpoint.
absl::Status PrepareOutputDirectory(const schema::TrainingOptions& training);

// The parameters' values, f32 or bf16, read from the device one after another as they are written.
std::vector<checkpoint::TensorToWrite> ParametersToWrite(
    const std::vector<nn::NamedParameter>& parameters, DType dtype);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_JOBS_TRAINING_OPTIONS_H_
