// Finds and loads the tokenizer of a model, whatever its kind.
#ifndef TRENCADIS_MODELS_TOKENIZERS_LOAD_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_LOAD_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/tokenizers/tokenizer.h"

namespace trencadis::tokenizers {

// `path` is a Hugging Face directory with tokenizer.model (and tokenizer_config.json), a
// SentencePiece .model file, or a .gguf file with an embedded vocabulary. Errors name the file and
// the reason.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::string& path);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_LOAD_TOKENIZER_H_
