// SentencePieceModel by the SentencePiece library, from the bytes of a .model file.
#ifndef TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_LIBRARY_H_
#define TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_LIBRARY_H_

#include <memory>
#include <string>
#include <string_view>

#include "models/tokenizers/sentencepiece_model.h"

namespace trencadis::tokenizers {

// With `keep_dummy_prefix` false, Encode puts no space before a text, whatever the model says.
// nullptr, with the reason in `error`, when the bytes are no SentencePiece model.
std::unique_ptr<SentencePieceModel> ParseSentencePieceModel(std::string_view serialized,
                                                            bool keep_dummy_prefix,
                                                            std::string* error);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_LIBRARY_H_
