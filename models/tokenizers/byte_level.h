// GPT-2's one-to-one map between bytes and printable characters (bytes_to_unicode in
// openai/gpt-2, src/encoder.py).
#ifndef TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_H_
#define TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace trencadis::tokenizers {

// The character for a byte, as UTF-8: "Ġ" for a space.
const std::string& CharacterOfByte(uint8_t byte);
// Each byte of `bytes` as its character.
std::string ToByteLevel(absl::string_view bytes);
// The bytes that the characters of `text` stand for; empty when one stands for none.
std::optional<std::string> FromByteLevel(absl::string_view text);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_H_
