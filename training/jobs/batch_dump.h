// BatchDump: the batches that a run trains on, as JSON lines, for a check by another program.
//
//   {"step": 0, "micro": 0, "input_ids": [[...]], "labels": [[...]]}
// with labels aligned to input_ids (not shifted) and, for packed or padded rows, "segment_ids" and
// "position_ids".
#ifndef TRENCADIS_TRAINING_JOBS_BATCH_DUMP_H_
#define TRENCADIS_TRAINING_JOBS_BATCH_DUMP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "training/data/batch.h"

namespace trencadis::training {

class BatchDump {
 public:
  static absl::StatusOr<std::unique_ptr<BatchDump>> Create(const std::string& path);
  // "step" is the number of an optimizer step, or of an evaluation batch.
  absl::Status Append(int64_t step, absl::Span<const HostBatch> micro_batches);

 private:
  explicit BatchDump(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  std::unique_ptr<WritableFile> file_;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_JOBS_BATCH_DUMP_H_
