// Byte-pair encoding as a tokenizer.json describes it.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_BPE_MODEL_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_BPE_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/checkpoint/json_fields.h"
#include "models/tokenizers/pipeline/parts.h"

namespace trencadis::tokenizers::pipeline {

// Fields vocab, merges, unk_token, fuse_unk, byte_fallback, ignore_merges,
// continuing_subword_prefix, end_of_word_suffix. Dropout, a training aid, is ignored.
absl::StatusOr<std::unique_ptr<TokenModel>> ParseBpeModel(checkpoint::JsonFields& fields);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_BPE_MODEL_H_
