// Reads the "decoder" of a tokenizer.json.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_DECODER_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_DECODER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/tokenizers/pipeline/parts.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

// nullptr for null. ByteLevel, Metaspace, WordPiece, BPEDecoder, Replace, Strip, Fuse, ByteFallback
// and Sequence; Unimplemented names any other.
absl::StatusOr<std::unique_ptr<Decoder>> ParseDecoder(const nlohmann::json& json);

// Takes away the spaces that English spelling does not have ("do n't ." -> "don't."), as
// transformers' clean_up_tokenization does.
std::string CleanUpSpaces(std::string text);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_DECODER_H_
