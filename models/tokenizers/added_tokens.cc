#include "models/tokenizers/added_tokens.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "models/tokenizers/utf8.h"

namespace trencadis::tokenizers {

AddedTokens::AddedTokens(std::map<int32_t, AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (const auto& [id, token] : tokens_) {
    if (token.content.empty()) continue;
    by_first_byte_[static_cast<unsigned char>(token.content[0])].push_back({token.content, id});
  }
  for (std::vector<Entry>& entries : by_first_byte_) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.content.size() > b.content.size();
    });
  }
}

const AddedToken* AddedTokens::Find(int32_t id) const {
  const auto it = tokens_.find(id);
  return it == tokens_.end() ? nullptr : &it->second;
}

std::optional<int32_t> AddedTokens::FindContent(absl::string_view content) const {
  if (content.empty()) return std::nullopt;
  for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(content[0])]) {
    if (entry.content == content) return entry.id;
  }
  return std::nullopt;
}

const AddedTokens::Entry* AddedTokens::MatchAt(absl::string_view text, bool parse_special) const {
  for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(text[0])]) {
    if (absl::StartsWith(text, entry.content) && (parse_special || !tokens_.at(entry.id).special)) {
      return &entry;
    }
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::Split(absl::string_view text, bool parse_special) const {
  // Texts and tokens alternate, so that a token can look at its neighbours; texts may be empty.
  std::vector<TextPart> parts;
  size_t text_start = 0;
  for (size_t at = 0; at < text.size();) {
    const Entry* match = MatchAt(text.substr(at), parse_special);
    if (match == nullptr) {
      ++at;
      continue;
    }
    parts.push_back({std::string(text.substr(text_start, at - text_start)), std::nullopt});
    parts.push_back({std::string(match->content), match->id});
    at += match->content.size();
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
