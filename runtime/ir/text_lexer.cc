#include "runtime/ir/text_lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace trencadis::ir {
namespace {

bool IsWordChar(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '+' || c == '-' || c == ':';
}

}  // namespace

void Lexer::SkipSpace() {
  while (position_ < text_.size()) {
    if (text_[position_] == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (absl::ascii_isspace(text_[position_])) {
      ++position_;
    } else {
      return;
    }
  }
}

void Lexer::Advance() {
  SkipSpace();
  const size_t start = position_;
  if (start == text_.size()) {
    token_ = {Token::Kind::kEnd, "", start};
    return;
  }
  if (text_[start] == '"') {
    size_t end = start + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end < text_.size()) {
      position_ = end + 1;
      token_ = {Token::Kind::kString, text_.substr(start + 1, end - start - 1), start};
      return;
    }
    // No closing quote: the quote alone is a token that no rule accepts.
  } else if (text_[start] != ':' && IsWordChar(text_[start])) {
    while (position_ < text_.size() && IsWordChar(text_[position_])) ++position_;
    token_ = {Token::Kind::kWord, text_.substr(start, position_ - start), start};
    return;
  }
  ++position_;
  token_ = {Token::Kind::kPunctuation, text_.substr(start, 1), start};
}

bool Lexer::Consume(absl::string_view text) {
  if (!Is(text)) return false;
  Advance();
  return true;
}

absl::Status Lexer::ErrorAt(size_t offset, absl::string_view message) const {
  const absl::string_view before = text_.substr(0, offset);
  const size_t newline = before.rfind('\n');
  const size_t column = newline == absl::string_view::npos ? offset : offset - newline - 1;
  return absl::InvalidArgumentError(absl::StrCat(1 + std::count(before.begin(), before.end(), '\n'),
                                                 ":", column + 1, ": ", message));
}

absl::Status Lexer::Unexpected(absl::string_view wanted) const {
  constexpr size_t kShown = 40;
  std::string got = absl::StrCat("'", absl::CHexEscape(token_.text.substr(0, kShown)), "'");
  if (token_.kind == Token::Kind::kEnd) got = "the end of the text";
  if (token_.kind == Token::Kind::kString) got = "a string";
  return Error(absl::StrCat("got ", got, "; wanted ", wanted));
}

}  // namespace trencadis::ir
