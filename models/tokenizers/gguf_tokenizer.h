// The tokenizer that a GGUF file embeds (its "tokenizer.ggml." metadata).
#ifndef TRENCADIS_MODELS_TOKENIZERS_GGUF_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_GGUF_TOKENIZER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/checkpoint/gguf_metadata.h"
#include "models/tokenizers/tokenizer.h"

namespace trencadis::tokenizers {

// Models "llama" (SentencePiece BPE) and "gpt2" (byte-level BPE with the pre-tokenizers that
// PreTokenizer knows); Unimplemented names any other. The result holds no view into the file.
absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerFromGguf(
    const checkpoint::GgufMetadata& metadata);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_GGUF_TOKENIZER_H_
