// Reads the "model" of a tokenizer.json.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_TOKEN_MODEL_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_TOKEN_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/tokenizers/pipeline/parts.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

// BPE, WordPiece, WordLevel and Unigram; a file without "type" has the one its fields belong to.
absl::StatusOr<std::unique_ptr<TokenModel>> ParseTokenModel(const nlohmann::json& json);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_TOKEN_MODEL_H_
