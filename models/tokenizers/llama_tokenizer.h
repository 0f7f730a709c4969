// Loads the files of transformers' LlamaTokenizer.
#ifndef TRENCADIS_MODELS_TOKENIZERS_LLAMA_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_LLAMA_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/tokenizers/tokenizer.h"

namespace trencadis::tokenizers {

// `model_path` is a SentencePiece model. From `directory` come, where they are there,
// tokenizer_config.json, special_tokens_map.json and added_tokens.json; an empty `directory` means
// the class's defaults (begin token added, <s>, </s>, <unk>, legacy behaviour).
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadLlamaTokenizer(const std::string& model_path,
                                                              const std::string& directory);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_LLAMA_TOKENIZER_H_
