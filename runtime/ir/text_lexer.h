// The tokens of the graph text form.
#ifndef TRENCADIS_RUNTIME_IR_TEXT_LEXER_H_
#define TRENCADIS_RUNTIME_IR_TEXT_LEXER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis::ir {

// A word is a run of letters, digits and the characters of numbers: _ . + - :
struct Token {
  enum class Kind { kEnd, kWord, kString, kPunctuation };
  Kind kind = Kind::kEnd;
  absl::string_view text;  // of a string: what is between the quotes, still escaped
  size_t offset = 0;       // in the whole text
};

class Lexer {
 public:
  // `text` outlives the lexer.
  explicit Lexer(absl::string_view text) : text_(text) { Advance(); }

  const Token& token() const { return token_; }
  bool Is(absl::string_view text) const {
    return token_.kind != Token::Kind::kString && token_.kind != Token::Kind::kEnd &&
           token_.text == text;
  }
  void Advance();
  // True, and past it, if the token is `text`.
  bool Consume(absl::string_view text);

  // "line:column: message", at the current token.
  absl::Status Error(absl::string_view message) const { return ErrorAt(token_.offset, message); }
  absl::Status ErrorAt(size_t offset, absl::string_view message) const;
  // Error that says what was wanted and what stands there.
  absl::Status Unexpected(absl::string_view wanted) const;

 private:
  void SkipSpace();

  absl::string_view text_;
  size_t position_ = 0;
  Token token_;
};

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_TEXT_LEXER_H_
