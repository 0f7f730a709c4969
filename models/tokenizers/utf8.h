// The few things tokenizers need to know about UTF-8.
#ifndef TRENCADIS_MODELS_TOKENIZERS_UTF8_H_
#define TRENCADIS_MODELS_TOKENIZERS_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis::tokenizers {

inline constexpr absl::string_view kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD

// Bytes of the character that begins `text`; 0 when there is none (end, or malformed: overlong,
// surrogate, above U+10FFFF, cut).
size_t CharacterBytes(absl::string_view text);
// InvalidArgument, with the offset of the first bad byte, unless `text` is UTF-8.
absl::Status CheckUtf8(absl::string_view text);
// `bytes` with each maximal ill-formed part replaced by U+FFFD (Unicode's recommended practice,
// also that of Rust and Python).
std::string ReplaceMalformed(absl::string_view bytes);
// "é" for 0xe9; `code_point` must not be a surrogate.
std::string EncodeUtf8(uint32_t code_point);
// The texts without white space (Unicode's White_Space) at their start or end.
absl::string_view StripLeadingSpace(absl::string_view text);
absl::string_view StripTrailingSpace(absl::string_view text);
// Whether the first or last character is one of those that \w matches (letters, marks, digits,
// connectors).
bool BeginsInWord(absl::string_view text);
bool EndsInWord(absl::string_view text);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_UTF8_H_
