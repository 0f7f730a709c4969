#include "training/jobs/data_files.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "training/data/dataset.h"

namespace trencadis::training {
namespace {

struct DataPaths {
  std::vector<std::string> training;
  std::vector<std::string> evaluation;
};

absl::StatusOr<DataPaths> PathsIn(const std::string& directory) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             RealFileSystem().List(directory));
  DataPaths paths;
  for (const std::string& name : names) {
    if (absl::StartsWith(name, "train.")) paths.training.push_back(JoinPath(directory, name));
    if (absl::StartsWith(name, "validation.") || absl::StartsWith(name, "test.")) {
      paths.evaluation.push_back(JoinPath(directory, name));
    }
  }
  if (paths.training.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("dataset directory ", directory,
                     " has no file named train.*; wanted train.json, train.jsonl or train.txt"));
  }
  return paths;
}

absl::StatusOr<DataPaths> PathsOf(const schema::DataOptions& data) {
  if (!data.has_dataset_name()) {
    DataPaths paths{{data.train_file().begin(), data.train_file().end()},
                    {data.validation_file().begin(), data.validation_file().end()}};
    if (paths.training.empty() && paths.evaluation.empty()) {
      return absl::InvalidArgumentError("no data: give --train_file, or --dataset_name");
    }
    return paths;
  }
  if (!RealFileSystem().Exists(data.dataset_name())) {
    return absl::NotFoundError(
        absl::StrCat("there is no dataset ", data.dataset_name(),
                     " on this machine; --dataset_name is a file or a directory of files"));
  }
  if (RealFileSystem().IsDirectory(data.dataset_name())) return PathsIn(data.dataset_name());
  return DataPaths{{data.dataset_name()}, {}};
}

RecordColumns ColumnsOf(const schema::DataOptions& data) {
  RecordColumns columns;
  if (data.has_instruction_column_name()) columns.instruction = data.instruction_column_name();
  if (data.has_input_column_name()) columns.input = data.input_column_name();
  if (data.has_output_column_name()) columns.output = data.output_column_name();
  return columns;
}

void HoldOut(const schema::DataOptions& data, DataSplits& splits) {
  std::vector<Record> all = std::move(splits.training);
  const auto count = static_cast<int64_t>(all.size());
  const int64_t held_out = count * data.validation_split_percentage() / 100;
  std::vector<int64_t> order(count);
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  if (data.has_dataset_seed()) {
    order = EpochOrder(count, static_cast<uint64_t>(data.dataset_seed()), /*epoch=*/0);
  }
  splits.training.clear();
  for (int64_t i = 0; i < count; ++i) {
    auto& split = i < held_out ? splits.evaluation : splits.training;
    split.push_back(std::move(all[order[i]]));
  }
}

}  // namespace

absl::StatusOr<DataSplits> ReadDataFiles(const schema::DataOptions& data) {
  TRENCADIS_ASSIGN_OR_RETURN(const DataPaths paths, PathsOf(data));
  DataSplits splits;
  const RecordColumns columns = ColumnsOf(data);
  TRENCADIS_ASSIGN_OR_RETURN(splits.training,
                             ReadRecords(paths.training, data.keep_linebreaks(), columns));
  TRENCADIS_ASSIGN_OR_RETURN(splits.evaluation,
                             ReadRecords(paths.evaluation, data.keep_linebreaks(), columns));
  if (paths.evaluation.empty() && data.validation_split_percentage() > 0) HoldOut(data, splits);
  return splits;
}

}  // namespace trencadis::training
