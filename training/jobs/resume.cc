#include "training/jobs/resume.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/file.h"
#include "runtime/base/logging.h"
#include "runtime/base/status.h"
#include "training/checkpoint.h"

namespace trencadis::training {
namespace {

constexpr int64_t kAnyStep = std::numeric_limits<int64_t>::max();

// Checkpoints in `directory` of at most `last_step` steps, newest first.
absl::StatusOr<std::vector<std::string>> NewestFirst(const std::string& directory,
                                                     int64_t last_step) {
  std::vector<std::string> paths;
  if (!RealFileSystem().IsDirectory(directory)) return paths;
  TRENCADIS_ASSIGN_OR_RETURN(std::vector<int64_t> steps, ListCheckpoints(directory));
  std::reverse(steps.begin(), steps.end());
  for (int64_t step : steps) {
    if (step <= last_step) paths.push_back(CheckpointPath(directory, step));
  }
  return paths;
}

// "checkpoint-20" and those before it, or those in a directory of another name.
absl::StatusOr<std::vector<std::string>> Candidates(absl::string_view path) {
  path = absl::StripSuffix(path, "/");
  const std::string parent = DirectoryOf(path);
  absl::string_view name = path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  int64_t step = 0;
  if (absl::ConsumePrefix(&name, kCheckpointPrefix) && absl::SimpleAtoi(name, &step)) {
    if (!RealFileSystem().IsDirectory(std::string(path))) {
      return absl::NotFoundError(absl::StrCat("there is no checkpoint ", path));
    }
    return NewestFirst(parent, step);
  }
  return NewestFirst(std::string(path), kAnyStep);
}

// Resumes from the first of `paths` that is whole.
absl::Status ResumeFromFirstWhole(const std::vector<std::string>& paths, Trainer& trainer) {
  for (const std::string& path : paths) {
    const absl::Status resumed = trainer.Resume(path);
    if (resumed.ok()) {
      TRENCADIS_LOG(INFO) << "continuing from " << path;
      return absl::OkStatus();
    }
    if (absl::IsFailedPrecondition(resumed) || absl::IsResourceExhausted(resumed)) return resumed;
    TRENCADIS_LOG(WARNING) << path << " cannot be continued from (" << resumed.message()
                           << "); trying the one before it";
  }
  return absl::NotFoundError("none of the checkpoints can be continued from; see the warnings");
}

}  // namespace

bool ResumeIsAsked(const schema::TrainingOptions& options) {
  return options.has_resume_from_checkpoint() &&
         absl::AsciiStrToLower(options.resume_from_checkpoint()) != "false";
}

absl::Status ResumeAsAsked(const schema::TrainingOptions& options, Trainer& trainer) {
  const std::string& asked = options.resume_from_checkpoint();
  if (!options.has_resume_from_checkpoint()) {
    if (options.overwrite_output_dir()) return absl::OkStatus();
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> left,
                               NewestFirst(options.output_dir(), kAnyStep));
    return left.empty() ? absl::OkStatus() : ResumeFromFirstWhole(left, trainer);
  }
  if (!ResumeIsAsked(options)) return absl::OkStatus();
  const bool newest = absl::AsciiStrToLower(asked) == "true";
  const std::string& where = newest ? options.output_dir() : asked;
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> paths, Candidates(where));
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat("--resume_from_checkpoint: there is no checkpoint in ",
                                            where, "; leave the flag out to start anew"));
  }
  return ResumeFromFirstWhole(paths, trainer);
}

}  // namespace trencadis::training
