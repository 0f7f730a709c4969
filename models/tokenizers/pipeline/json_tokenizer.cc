#include "models/tokenizers/pipeline/json_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/tokenizers/pipeline/decoder.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {

JsonTokenizer::JsonTokenizer(JsonTokenizerParts parts)
    : parts_(std::move(parts)), vocab_size_(parts_.model->size()) {
  for (const AddedTokens* added : {&parts_.added, &parts_.added_normalized}) {
    const auto& tokens = added->tokens();
    if (!tokens.empty()) vocab_size_ = std::max<int64_t>(vocab_size_, tokens.rbegin()->first + 1);
  }
}

absl::StatusOr<std::vector<int32_t>> JsonTokenizer::Encode(absl::string_view text,
                                                           const EncodeOptions& options) const {
  TRENCADIS_RETURN_IF_ERROR(CheckUtf8(text));
  std::vector<int32_t> ids;
  if (options.add_special_tokens) ids = parts_.before;
  bool at_start = true;
  for (const TextPart& part : parts_.added.Split(text, options.parse_special_tokens)) {
    TRENCADIS_RETURN_IF_ERROR(EncodePart(part, at_start, options.parse_special_tokens, ids));
    at_start = false;
  }
  if (options.add_special_tokens) {
    ids.insert(ids.end(), parts_.after.begin(), parts_.after.end());
  }
  return ids;
}

absl::Status JsonTokenizer::EncodePart(const TextPart& part, bool at_start, bool parse_special,
                                       std::vector<int32_t>& ids) const {
  if (part.id) {
    ids.push_back(*part.id);
    return absl::OkStatus();
  }
  std::string text = part.text;
  if (parts_.normalizer != nullptr) {
    TRENCADIS_ASSIGN_OR_RETURN(text, parts_.normalizer->Apply(std::move(text)));
  }
  for (const TextPart& piece : parts_.added_normalized.Split(text, parse_special)) {
    if (piece.id) {
      ids.push_back(*piece.id);
    } else {
      TRENCADIS_RETURN_IF_ERROR(EncodeWords(piece.text, at_start, ids));
    }
    at_start = false;
  }
  return absl::OkStatus();
}

absl::Status JsonTokenizer::EncodeWords(std::string text, bool at_start,
                                        std::vector<int32_t>& ids) const {
  std::vector<Word> words;
  words.push_back({std::move(text), at_start});
  if (parts_.splitter != nullptr) {
    TRENCADIS_ASSIGN_OR_RETURN(words, parts_.splitter->Apply(std::move(words)));
  }
  for (const Word& word : words) parts_.model->Append(word.text, ids);
  return absl::OkStatus();
}

absl::StatusOr<std::string> JsonTokenizer::Decode(absl::Span<const int32_t> ids,
                                                  const DecodeOptions& options) const {
  std::vector<std::string> tokens;
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab_size_) {
      return absl::OutOfRangeError(
          absl::StrCat("token id ", id, " is outside the vocabulary of ", vocab_size_));
    }
    if (!options.skip_special_tokens || !IsSpecial(id)) tokens.push_back(TokenText(id));
  }
  std::string text = parts_.decoder == nullptr
                         ? absl::StrJoin(tokens, " ")
                         : absl::StrJoin(parts_.decoder->Apply(std::move(tokens)), "");
  return parts_.clean_up_spaces ? CleanUpSpaces(std::move(text)) : text;
}

const AddedToken* JsonTokenizer::FindAdded(int32_t id) const {
  const AddedToken* token = parts_.added.Find(id);
  return token != nullptr ? token : parts_.added_normalized.Find(id);
}

bool JsonTokenizer::IsSpecial(int32_t id) const {
  const AddedToken* token = FindAdded(id);
  return token != nullptr && token->special;
}

std::string JsonTokenizer::TokenText(int32_t id) const {
  const AddedToken* token = FindAdded(id);
  return token != nullptr ? token->content : parts_.model->TokenText(id);
}

std::optional<int32_t> JsonTokenizer::FindToken(absl::string_view token_text) const {
  for (const AddedTokens* added : {&parts_.added, &parts_.added_normalized}) {
    if (const auto id = added->FindContent(token_text)) return id;
  }
  return parts_.model->Find(token_text);
}

}  // namespace trencadis::tokenizers::pipeline
