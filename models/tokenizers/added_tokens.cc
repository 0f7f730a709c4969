#include "models/tokenizers/added_tokens.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "models/tokenizers/utf8.h"

namespace trencadis::tokenizers {

AddedTokens::AddedTokens(std::map<int32_t, AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (const auto& [id, token] : tokens_) {
    const absl::string_view searched = token.searched.empty() ? token.content : token.searched;
    if (searched.empty()) continue;
    by_first_byte_[static_cast<unsigned char>(searched[0])].push_back({searched, id});
  }
  for (std::vector<Entry>& entries : by_first_byte_) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.searched.size() > b.searched.size();
    });
  }
}

const AddedToken* AddedTokens::Find(int32_t id) const {
  const auto it = tokens_.find(id);
  return it == tokens_.end() ? nullptr : &it->second;
}

std::optional<int32_t> AddedTokens::FindContent(absl::string_view content) const {
  for (const auto& [id, token] : tokens_) {
    if (token.content == content) return id;
  }
  return std::nullopt;
}

const AddedTokens::Entry* AddedTokens::MatchAt(absl::string_view text, size_t at,
                                               bool parse_special) const {
  const absl::string_view rest = text.substr(at);
  for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(rest[0])]) {
    if (!absl::StartsWith(rest, entry.searched)) continue;
    const AddedToken& token = tokens_.at(entry.id);
    if (token.special && !parse_special) continue;
    const bool touches =
        EndsInWord(text.substr(0, at)) || BeginsInWord(rest.substr(entry.searched.size()));
    if (!token.word_bounded || !touches) return &entry;
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::Split(absl::string_view text, bool parse_special) const {
  // Texts and tokens alternate, so that a token can look at its neighbours; texts may be empty.
  std::vector<TextPart> parts;
  size_t text_start = 0;
  for (size_t at = 0; at < text.size();) {
    const Entry* match = MatchAt(text, at, parse_special);
    if (match == nullptr) {
      ++at;
      continue;
    }
    parts.push_back({std::string(text.substr(text_start, at - text_start)), std::nullopt});
    parts.push_back({std::string(match->searched), match->id});
    at += match->searched.size();
    text_start = at;
  }
  parts.push_back({std::string(text.substr(text_start)), std::nullopt});

  for (size_t i = 1; i + 1 < parts.size(); i += 2) {
    const AddedToken& token = tokens_.at(*parts[i].id);
    std::string& left = parts[i - 1].text;
    std::string& right = parts[i + 1].text;
    if (token.rstrip) right = std::string(StripLeadingSpace(right));
    if (token.lstrip) left = std::string(StripTrailingSpace(left));
    if (!token.single_word) continue;
    if (!left.empty() && left.back() != ' ') {
      left += token.content;
      parts[i] = {};
    } else if (!right.empty() && right.front() != ' ') {
      right = token.content + right;
      parts[i] = {};
    }
  }
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [](const TextPart& part) { return part.text.empty(); }),
              parts.end());
  return parts;
}

}  // namespace trencadis::tokenizers
