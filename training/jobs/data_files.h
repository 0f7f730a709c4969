// The data files of a job, read and split into training and evaluation records.
#ifndef TRENCADIS_TRAINING_JOBS_DATA_FILES_H_
#define TRENCADIS_TRAINING_JOBS_DATA_FILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "api/schema/data.pb.h"
#include "training/data/records.h"

namespace trencadis::training {

struct DataSplits {
  std::vector<Record> training;
  std::vector<Record> evaluation;
};

// From train_file and validation_file, or from dataset_name: a file, or a directory with files
// named train.* and validation.* (or test.*). Without evaluation data, validation_split_percentage
// of the training records is held out: the first ones, in the order that dataset_seed shuffles them
// where it is part of the tool.
absl::StatusOr<DataSplits> ReadDataFiles(const schema::DataOptions& data);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_JOBS_DATA_FILES_H_
