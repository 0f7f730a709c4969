// Writes a model's tokenizer beside the model that was made from it.
#ifndef TRENCADIS_MODELS_TOKENIZERS_SAVE_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_SAVE_TOKENIZER_H_

#include <string>

#include "absl/status/status.h"

namespace trencadis::tokenizers {

// `path` is what LoadTokenizer takes. The tokenizer's files are copied into `directory`, which
// exists; a GGUF file's SentencePiece vocabulary becomes tokenizer.model, a byte-level one
// tokenizer.json, either with a tokenizer_config.json.
absl::Status SaveTokenizer(const std::string& path, const std::string& directory);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_SAVE_TOKENIZER_H_
