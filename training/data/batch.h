// HostBatch: the rows of one micro batch, ready for the device.
//
// Letters: B rows, T tokens a row.
#ifndef TRENCADIS_TRAINING_DATA_BATCH_H_
#define TRENCADIS_TRAINING_DATA_BATCH_H_

#include <cstdint>
#include <optional>

#include "runtime/core/literal.h"

namespace trencadis::training {

struct HostBatch {
  Literal ids;  // i32 [B,T]
  // i32 [B,T], shifted: labels[b,t] is the token that should follow ids[b,t], -100 where nothing is
  // to be learned.
  Literal labels;
  // i32 [B,T] where rows hold several documents or padding; see zoo::TokenBatch.
  std::optional<Literal> segments;
  std::optional<Literal> positions;
  // i32 [B]: each row's number within the optimizer step's global batch.
  Literal samples;
  int64_t target_tokens = 0;  // labels that are not -100
  int64_t num_samples = 0;    // rows that hold examples, not padding
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_DATA_BATCH_H_
