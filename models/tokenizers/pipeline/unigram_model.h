// The unigram language model (Kudo, 2018) as a tokenizer.json describes it: the segmentation of a
// word whose pieces' log probabilities have the largest sum.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_UNIGRAM_MODEL_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_UNIGRAM_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/checkpoint/json_fields.h"
#include "models/tokenizers/pipeline/parts.h"

namespace trencadis::tokenizers::pipeline {

// Fields vocab (a list of [piece, log probability]), unk_id and byte_fallback.
absl::StatusOr<std::unique_ptr<TokenModel>> ParseUnigramModel(checkpoint::JsonFields& fields);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_UNIGRAM_MODEL_H_
