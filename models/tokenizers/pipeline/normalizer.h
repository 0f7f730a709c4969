// Reads the "normalizer" of a tokenizer.json.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_NORMALIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_NORMALIZER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/tokenizers/pipeline/parts.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

// nullptr for null. NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend,
// BertNormalizer, Precompiled and Sequence; Unimplemented names any other.
absl::StatusOr<std::unique_ptr<Normalizer>> ParseNormalizer(const nlohmann::json& json);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_NORMALIZER_H_
