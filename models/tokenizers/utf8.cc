#include "models/tokenizers/utf8.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include "absl/strings/str_cat.h"

namespace trencadis::tokenizers {
namespace {

bool IsWordCharacter(UChar32 code_point) {
  if (code_point < 0) return false;
  return u_hasBinaryProperty(code_point, UCHAR_ALPHABETIC) ||
         u_hasBinaryProperty(code_point, UCHAR_JOIN_CONTROL) ||
         (U_GET_GC_MASK(code_point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

}  // namespace

size_t CharacterBytes(absl::string_view text) {
  if (text.empty()) return 0;
  if (static_cast<unsigned char>(text[0]) < 0x80) return 1;
  int32_t offset = 0;
  UChar32 code_point = 0;
  U8_NEXT(text.data(), offset, static_cast<int32_t>(text.size() < 4 ? text.size() : 4), code_point);
  return code_point < 0 ? 0 : static_cast<size_t>(offset);
}

absl::Status CheckUtf8(absl::string_view text) {
  size_t offset = 0;
  while (offset < text.size()) {
    const size_t bytes = CharacterBytes(text.substr(offset));
    if (bytes == 0) {
      return absl::InvalidArgumentError(absl::StrCat("the text is not UTF-8 at byte ", offset));
    }
    offset += bytes;
  }
  return absl::OkStatus();
}

std::string ReplaceMalformed(absl::string_view bytes) {
  std::string text;
  icu::UnicodeString::fromUTF8({bytes.data(), static_cast<int32_t>(bytes.size())})
      .toUTF8String(text);
  return text;
}

std::string EncodeUtf8(uint32_t code_point) {
  std::string text;
  icu::UnicodeString(static_cast<UChar32>(code_point)).toUTF8String(text);
  return text;
}

absl::string_view StripLeadingSpace(absl::string_view text) {
  int32_t offset = 0, start = 0;
  const int32_t size = static_cast<int32_t>(text.size());
  while (offset < size) {
    UChar32 code_point = 0;
    U8_NEXT(text.data(), offset, size, code_point);
    if (code_point < 0 || !u_isUWhiteSpace(code_point)) break;
    start = offset;
  }
  return text.substr(start);
}

absl::string_view StripTrailingSpace(absl::string_view text) {
  int32_t offset = static_cast<int32_t>(text.size()), end = offset;
  while (offset > 0) {
    UChar32 code_point = 0;
    U8_PREV(text.data(), 0, offset, code_point);
    if (code_point < 0 || !u_isUWhiteSpace(code_point)) break;
    end = offset;
  }
  return text.substr(0, end);
}

bool BeginsInWord(absl::string_view text) {
  if (text.empty()) return false;
  int32_t offset = 0;
  UChar32 code_point = 0;
  U8_NEXT(text.data(), offset, static_cast<int32_t>(text.size()), code_point);
  return IsWordCharacter(code_point);
}

bool EndsInWord(absl::string_view text) {
  if (text.empty()) return false;
  int32_t offset = static_cast<int32_t>(text.size());
  UChar32 code_point = 0;
  U8_PREV(text.data(), 0, offset, code_point);
  return IsWordCharacter(code_point);
}

}  // namespace trencadis::tokenizers
