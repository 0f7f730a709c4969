// Writes the byte-level vocabulary of a GGUF file as a Hugging Face tokenizer.json.
#ifndef TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_JSON_H_
#define TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/gguf_metadata.h"
#include "models/tokenizers/tokenizer.h"

namespace trencadis::tokenizers {

// The text of a tokenizer.json that encodes and decodes as `tokenizer` does, which was made from
// `metadata` (tokenizer.ggml.model "gpt2").
absl::StatusOr<std::string> ByteLevelTokenizerJson(const checkpoint::GgufMetadata& metadata,
                                                   const Tokenizer& tokenizer);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_JSON_H_
