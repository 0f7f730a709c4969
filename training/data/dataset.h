// Dataset: tokenized examples, and the order in which an epoch visits them.
#ifndef TRENCADIS_TRAINING_DATA_DATASET_H_
#define TRENCADIS_TRAINING_DATA_DATASET_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "training/data/batch.h"

namespace trencadis::training {

// One row before it is padded. All vectors have one length.
struct Example {
  std::vector<int32_t> ids;
  // labels[t] == ids[t] where token t is to be learned (from the tokens before it), -100 elsewhere.
  // Not shifted.
  std::vector<int32_t> labels;
  // Document numbers and positions of a packed row whose documents must not see one another; empty
  // for a row of one document.
  std::vector<int32_t> segments;
  std::vector<int32_t> positions;
};

struct CollateOptions {
  int32_t pad_token = 0;
  // Rows are padded to this, or to the longest row of the batch when it is 0.
  int64_t pad_to_length = 0;
  // Lengths are rounded up to a multiple of this, which bounds the number of shapes.
  int64_t pad_to_multiple = 1;
};

// Pads `examples` on the right into one batch; row i gets sample number `first_sample` + i. Padding
// is a segment of its own and no target.
HostBatch Collate(absl::Span<const Example* const> examples, int64_t first_sample,
                  const CollateOptions& options);

// A permutation of 0 .. count-1 that follows from `seed` and `epoch` alone: Fisher and Yates'
// shuffle drawing from Philox4x32-10 with the key `seed` and the counter (position, position >> 32,
// epoch, 1).
std::vector<int64_t> EpochOrder(int64_t count, uint64_t seed, int64_t epoch);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_DATA_DATASET_H_
