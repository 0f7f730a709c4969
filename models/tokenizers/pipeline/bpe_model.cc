#include "models/tokenizers/pipeline/bpe_model.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/tokenizers/bpe_merge.h"
#include "models/tokenizers/pipeline/vocabulary.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using Json = nlohmann::json;

struct BpeSettings {
  std::string unk_token;
  std::string continuing_prefix;
  std::string end_suffix;
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

struct RankedMerge {
  int32_t rank;
  int32_t token;
};

class BpeModel : public TokenModel {
 public:
  BpeModel(std::unique_ptr<Vocabulary> vocabulary, BpeSettings settings)
      : vocabulary_(std::move(vocabulary)), settings_(std::move(settings)) {
    unk_ = vocabulary_->Find(settings_.unk_token);
    for (int byte = 0; byte < 256; ++byte) {
      byte_ids_[byte] = vocabulary_->Find(absl::StrFormat("<0x%02X>", byte)).value_or(-1);
    }
  }

  absl::Status AddMerge(int32_t rank, absl::string_view left, absl::string_view right) {
    const std::optional<int32_t> a = Find(left), b = Find(right);
    const absl::string_view tail = right.substr(absl::StartsWith(right, settings_.continuing_prefix)
                                                    ? settings_.continuing_prefix.size()
                                                    : 0);
    const std::optional<int32_t> both = Find(absl::StrCat(left, tail));
    if (!a || !b || !both) {
      return absl::InvalidArgumentError(
          absl::StrCat("merge ", rank, " ('", left, "' and '", right,
                       "') names or makes a token that is not there"));
    }
    // Of a pair that is listed twice the last counts.
    merges_[{*a, *b}] = {rank, *both};
    return absl::OkStatus();
  }

  void Append(absl::string_view word, std::vector<int32_t>& ids) const override {
    if (settings_.ignore_merges) {
      if (const std::optional<int32_t> whole = Find(word)) return ids.push_back(*whole);
    }
    std::vector<BpeSymbol> symbols = InitialSymbols(word);
    MergeSymbols(symbols, [&](const BpeSymbol& left, const BpeSymbol& right) {
      const auto it = merges_.find({left.token, right.token});
      if (it == merges_.end()) return std::optional<BpeMerge>();
      return std::optional<BpeMerge>({-static_cast<double>(it->second.rank), it->second.token});
    });
    for (const BpeSymbol& symbol : symbols) {
      if (symbol.bytes > 0) ids.push_back(symbol.token);
    }
  }

  int32_t size() const override { return vocabulary_->size(); }
  std::string TokenText(int32_t id) const override { return std::string(vocabulary_->Text(id)); }
  std::optional<int32_t> Find(absl::string_view token) const override {
    return vocabulary_->Find(token);
  }

 private:
  // A character's own token, with the marks of its place in the word.
  std::optional<int32_t> FindCharacter(absl::string_view character, bool first, bool last) const {
    if (settings_.continuing_prefix.empty() && settings_.end_suffix.empty()) return Find(character);
    return Find(absl::StrCat(first ? "" : settings_.continuing_prefix, character,
                             last ? settings_.end_suffix : ""));
  }

  std::vector<BpeSymbol> InitialSymbols(absl::string_view word) const {
    std::vector<BpeSymbol> symbols;
    symbols.reserve(word.size());
    bool after_unknown = false;
    for (size_t at = 0; at < word.size();) {
      const size_t bytes = std::max<size_t>(1, CharacterBytes(word.substr(at)));
      const absl::string_view character = word.substr(at, bytes);
      const std::optional<int32_t> token =
          FindCharacter(character, at == 0, at + bytes == word.size());
      if (token) {
        symbols.push_back({.begin = at, .bytes = bytes, .token = *token});
        after_unknown = false;
      } else if (settings_.byte_fallback && HasBytes(character)) {
        for (size_t i = 0; i < bytes; ++i) {
          symbols.push_back({.begin = at + i,
                             .bytes = 1,
                             .token = byte_ids_[static_cast<uint8_t>(character[i])]});
        }
        after_unknown = false;
      } else if (unk_ && !(settings_.fuse_unk && after_unknown)) {
        symbols.push_back({.begin = at, .bytes = bytes, .token = *unk_});
        after_unknown = true;
      }
      at += bytes;
    }
    return symbols;
  }

  bool HasBytes(absl::string_view character) const {
    return std::all_of(character.begin(), character.end(),
                       [&](char c) { return byte_ids_[static_cast<uint8_t>(c)] >= 0; });
  }

  std::unique_ptr<Vocabulary> vocabulary_;
  BpeSettings settings_;
  std::optional<int32_t> unk_;
  std::array<int32_t, 256> byte_ids_;  // of "<0x00>" and so on; -1 where there is none
  absl::flat_hash_map<std::pair<int32_t, int32_t>, RankedMerge> merges_;
};

// "left right" or ["left", "right"].
absl::Status ReadMerge(const Json& merge, int32_t rank, BpeModel& model) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return model.AddMerge(rank, merge[0].get_ref<const std::string&>(),
                          merge[1].get_ref<const std::string&>());
  }
  if (merge.is_string()) {
    const absl::string_view text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space != absl::string_view::npos) {
      return model.AddMerge(rank, text.substr(0, space), text.substr(space + 1));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("merge ", rank, " is ", checkpoint::ShortText(merge), "; wanted two tokens"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenModel>> ParseBpeModel(checkpoint::JsonFields& fields) {
  BpeSettings settings;
  fields.String("unk_token", settings.unk_token);
  fields.String("continuing_subword_prefix", settings.continuing_prefix);
  fields.String("end_of_word_suffix", settings.end_suffix);
  fields.Bool("fuse_unk", settings.fuse_unk);
  fields.Bool("byte_fallback", settings.byte_fallback);
  fields.Bool("ignore_merges", settings.ignore_merges);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<Vocabulary> vocabulary,
                             Vocabulary::Parse(fields.Take("vocab")));
  auto model = std::make_unique<BpeModel>(std::move(vocabulary), std::move(settings));
  const Json merges = fields.Take("merges");
  if (!merges.is_array()) return absl::InvalidArgumentError("\"merges\" is not a list");
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    TRENCADIS_RETURN_IF_ERROR(ReadMerge(merges[rank], static_cast<int32_t>(rank), *model));
  }
  return model;
}

}  // namespace trencadis::tokenizers::pipeline
