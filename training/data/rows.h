// Rows: records as the token rows that a model trains on.
#ifndef TRENCADIS_TRAINING_DATA_ROWS_H_
#define TRENCADIS_TRAINING_DATA_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/tokenizers/tokenizer.h"
#include "training/data/dataset.h"
#include "training/data/records.h"

namespace trencadis::training {

// All records one after another, each tokenized on its own, cut into rows of exactly `block_size`
// tokens; an incomplete last one is dropped (run_clm). Every token is a target.
absl::StatusOr<std::vector<Example>> TextBlocks(absl::Span<const Record> records,
                                                const tokenizers::Tokenizer& tokenizer,
                                                int64_t block_size);

// One row per record (run_lora_clm): prompt and completion tokenized as one text, ended by the
// end-of-sequence token, cut after `max_length` tokens. With `train_on_prompts` every token is a
// target, otherwise the completion's and the end only.
absl::StatusOr<std::vector<Example>> RecordRows(absl::Span<const Record> records,
                                                const tokenizers::Tokenizer& tokenizer,
                                                int64_t max_length, bool train_on_prompts);

// Rows joined, in order, into rows of at most `length` tokens whose documents do not see one
// another.
std::vector<Example> PackRows(absl::Span<const Example> rows, int64_t length);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_DATA_ROWS_H_
