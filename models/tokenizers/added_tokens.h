// AddedTokens: tokens that are cut out of a text before the rest is tokenized.
#ifndef TRENCADIS_MODELS_TOKENIZERS_ADDED_TOKENS_H_
#define TRENCADIS_MODELS_TOKENIZERS_ADDED_TOKENS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace trencadis::tokenizers {

// As transformers' AddedToken.
struct AddedToken {
  std::string content;
  bool special = false;
  bool lstrip = false;       // takes the white space on its left with it
  bool rstrip = false;       // the same on its right
  bool single_word = false;  // is text where it touches anything but a space
  // The same as the tokenizers library means it: is text where it touches a letter, digit, mark or
  // underscore.
  bool word_bounded = false;
  // What to look for in the text, where that is not the content.
  std::string searched;
};

// A part of a text: an added token, or text between two.
struct TextPart {
  std::string text;
  std::optional<int32_t> id;
};

// Immutable, thread-safe.
class AddedTokens {
 public:
  AddedTokens() = default;
  // By id; tokens with nothing to look for are never found in a text.
  explicit AddedTokens(std::map<int32_t, AddedToken> tokens);
  AddedTokens(AddedTokens&&) = default;
  AddedTokens& operator=(AddedTokens&&) = default;

  const std::map<int32_t, AddedToken>& tokens() const { return tokens_; }
  const AddedToken* Find(int32_t id) const;
  std::optional<int32_t> FindContent(absl::string_view content) const;

  // Cuts `text` at the added tokens in it: the leftmost first, of those the longest. With
  // `parse_special` false special ones are left alone. Empty parts are left out.
  std::vector<TextPart> Split(absl::string_view text, bool parse_special) const;

 private:
  struct Entry {
    absl::string_view searched;  // in tokens_
    int32_t id;
  };
  // The longest token that `text` has at `at`; nullptr for none.
  const Entry* MatchAt(absl::string_view text, size_t at, bool parse_special) const;

  std::map<int32_t, AddedToken> tokens_;
  std::array<std::vector<Entry>, 256> by_first_byte_;  // longest first
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_ADDED_TOKENS_H_
