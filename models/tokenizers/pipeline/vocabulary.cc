#include "models/tokenizers/pipeline/vocabulary.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trencadis::tokenizers::pipeline {

absl::StatusOr<std::unique_ptr<Vocabulary>> Vocabulary::Parse(const nlohmann::json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError("\"vocab\" is not an object");
  // Vocabularies have small holes at most, where added tokens are.
  const uint64_t limit = 2 * json.size() + 100'000;
  std::vector<std::string> tokens;
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= limit) {
      return absl::InvalidArgumentError(
          absl::StrCat("token '", token, "' has no id between 0 and ", limit));
    }
    const uint64_t at = id.get<uint64_t>();
    if (at >= tokens.size()) tokens.resize(at + 1);
    if (!tokens[at].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("tokens '", tokens[at], "' and '", token, "' have the same id ", at));
    }
    tokens[at] = token;
  }
  return std::make_unique<Vocabulary>(std::move(tokens));
}

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  ids_.reserve(tokens_.size());
  for (size_t id = 0; id < tokens_.size(); ++id) {
    if (!tokens_[id].empty()) ids_.try_emplace(tokens_[id], static_cast<int32_t>(id));
  }
}

absl::string_view Vocabulary::Text(int32_t id) const {
  return id >= 0 && id < size() ? absl::string_view(tokens_[id]) : absl::string_view();
}

std::optional<int32_t> Vocabulary::Find(absl::string_view token) const {
  const auto it = ids_.find(token);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

}  // namespace trencadis::tokenizers::pipeline
