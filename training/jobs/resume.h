// Which checkpoint a run continues from.
#ifndef TRENCADIS_TRAINING_JOBS_RESUME_H_
#define TRENCADIS_TRAINING_JOBS_RESUME_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/schema/training.pb.h"
#include "training/trainer.h"

namespace trencadis::training {

// Lets `trainer` continue from the checkpoint that --resume_from_checkpoint names: a checkpoint, a
// directory with checkpoints, or "true" for those in the output directory. A damaged one is named
// in a warning and the one before it is taken. Without the option, a run that left checkpoints and
// no result in the output directory is continued, unless --overwrite_output_dir is given.
//
// NotFound when a checkpoint is asked for and there is no whole one; FailedPrecondition when it
// belongs to another run.
absl::Status ResumeAsAsked(const schema::TrainingOptions& options, Trainer& trainer);

// Whether the options ask for a checkpoint to continue from.
bool ResumeIsAsked(const schema::TrainingOptions& options);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_JOBS_RESUME_H_
