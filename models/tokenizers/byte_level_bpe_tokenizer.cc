#include "models/tokenizers/byte_level_bpe_tokenizer.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "models/tokenizers/bpe_merge.h"
#include "models/tokenizers/byte_level.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {

ByteLevelBpeTokenizer::ByteLevelBpeTokenizer(std::vector<std::string> tokens,
                                             std::unique_ptr<PreTokenizer> pre_tokenizer,
                                             ByteLevelBpeOptions options)
    : tokens_(std::move(tokens)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      options_(std::move(options)) {
  for (size_t id = 0; id < tokens_.size(); ++id) ids_.emplace(tokens_[id], id);
  for (int byte = 0; byte < 256; ++byte) {
    const auto it = ids_.find(CharacterOfByte(static_cast<uint8_t>(byte)));
    byte_ids_[byte] = it == ids_.end() ? -1 : it->second;
  }
}

absl::StatusOr<std::unique_ptr<ByteLevelBpeTokenizer>> ByteLevelBpeTokenizer::Create(
    std::vector<std::string> tokens, const std::vector<absl::string_view>& merges,
    std::unique_ptr<PreTokenizer> pre_tokenizer, ByteLevelBpeOptions options) {
  std::unique_ptr<ByteLevelBpeTokenizer> tokenizer(
      new ByteLevelBpeTokenizer(std::move(tokens), std::move(pre_tokenizer), std::move(options)));
  TRENCADIS_RETURN_IF_ERROR(tokenizer->IndexMerges(merges));
  return tokenizer;
}

absl::Status ByteLevelBpeTokenizer::IndexMerges(const std::vector<absl::string_view>& merges) {
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const absl::string_view merge = merges[rank];
    const size_t space = merge.find(' ', 1);
    if (space == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("merge ", rank, " ('", merge, "') is not two tokens and a space between"));
    }
    const auto left = ids_.find(merge.substr(0, space));
    const auto right = ids_.find(merge.substr(space + 1));
    const auto both = ids_.find(absl::StrCat(merge.substr(0, space), merge.substr(space + 1)));
    if (left == ids_.end() || right == ids_.end() || both == ids_.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "merge ", rank, " ('", merge, "') names or makes a token that is not there"));
    }
    merges_.try_emplace({left->second, right->second},
                        Merge{static_cast<int32_t>(rank), both->second});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int32_t>> ByteLevelBpeTokenizer::Encode(
    absl::string_view text, const EncodeOptions& options) const {
  TRENCADIS_RETURN_IF_ERROR(CheckUtf8(text));
  const SpecialTokens& special = options_.special;
  std::vector<int32_t> ids;
  if (options.add_special_tokens && options_.add_bos && special.bos) ids.push_back(*special.bos);
  for (const TextPart& part : options_.added.Split(text, options.parse_special_tokens)) {
    if (part.id) {
      ids.push_back(*part.id);
      continue;
    }
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<absl::string_view> words,
                               pre_tokenizer_->Split(part.text));
    for (absl::string_view word : words) AppendWord(word, ids);
  }
  if (options.add_special_tokens && options_.add_eos && special.eos) ids.push_back(*special.eos);
  return ids;
}

void ByteLevelBpeTokenizer::AppendWord(absl::string_view word, std::vector<int32_t>& ids) const {
  if (options_.ignore_merges) {
    const auto whole = ids_.find(ToByteLevel(word));
    if (whole != ids_.end()) {
      ids.push_back(whole->second);
      return;
    }
  }
  std::vector<BpeSymbol> symbols;
  symbols.reserve(word.size());
  for (size_t i = 0; i < word.size(); ++i) {
    const int32_t token = byte_ids_[static_cast<uint8_t>(word[i])];
    // As in the tokenizers that share these vocabularies, a byte without a token vanishes.
    if (token >= 0) symbols.push_back({.begin = i, .bytes = 1, .token = token});
  }
  MergeSymbols(symbols, [&](const BpeSymbol& left, const BpeSymbol& right) {
    const auto it = merges_.find({left.token, right.token});
    if (it == merges_.end()) return std::optional<BpeMerge>();
    return std::optional<BpeMerge>({-static_cast<double>(it->second.rank), it->second.token});
  });
  for (const BpeSymbol& symbol : symbols) {
    if (symbol.bytes > 0) ids.push_back(symbol.token);
  }
}

absl::StatusOr<std::string> ByteLevelBpeTokenizer::Decode(absl::Span<const int32_t> ids,
                                                          const DecodeOptions& options) const {
  std::string bytes;
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab_size()) {
      return absl::OutOfRangeError(
          absl::StrCat("token id ", id, " is outside the vocabulary of ", vocab_size()));
    }
    if (options.skip_special_tokens && IsSpecial(id)) continue;
    const bool literal = options_.added.Find(id) != nullptr;
    const std::optional<std::string> decoded = literal ? std::nullopt : FromByteLevel(tokens_[id]);
    bytes += decoded ? *decoded : tokens_[id];
  }
  return ReplaceMalformed(bytes);
}

bool ByteLevelBpeTokenizer::IsSpecial(int32_t id) const {
  const SpecialTokens& special = options_.special;
  if (id == special.bos || id == special.eos || id == special.pad) return true;
  const AddedToken* added = options_.added.Find(id);
  return added != nullptr && added->special;
}

std::string ByteLevelBpeTokenizer::TokenText(int32_t id) const {
  return id >= 0 && id < vocab_size() ? tokens_[id] : "";
}

std::optional<int32_t> ByteLevelBpeTokenizer::FindToken(absl::string_view token_text) const {
  const auto it = ids_.find(token_text);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

}  // namespace trencadis::tokenizers
