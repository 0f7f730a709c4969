#include "models/tokenizers/gguf_tokenizer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/tokenizers/added_tokens.h"
#include "models/tokenizers/byte_level_bpe_tokenizer.h"
#include "models/tokenizers/pre_tokenizer.h"
#include "models/tokenizers/score_bpe_model.h"
#include "models/tokenizers/sentencepiece_tokenizer.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

using checkpoint::GgufMetadata;

// The metadata that every kind of vocabulary has.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<PieceType> types;  // as many as tokens; kNormal where the file says nothing
  SpecialTokens special;
};

absl::StatusOr<std::optional<int32_t>> ReadId(const GgufMetadata& metadata, absl::string_view name,
                                              int64_t vocab_size) {
  int64_t id = -1;
  TRENCADIS_RETURN_IF_ERROR(metadata.Int(absl::StrCat("tokenizer.ggml.", name), id));
  // Writers that mean "none" write -1, often as an unsigned number.
  if (id < 0 || id >= vocab_size) return std::nullopt;
  return static_cast<int32_t>(id);
}

absl::StatusOr<Vocabulary> ReadVocabulary(const GgufMetadata& metadata) {
  std::vector<absl::string_view> tokens;
  TRENCADIS_RETURN_IF_ERROR(metadata.Strings("tokenizer.ggml.tokens", tokens));
  if (tokens.empty()) {
    return absl::InvalidArgumentError("metadata 'tokenizer.ggml.tokens' is missing or empty");
  }
  Vocabulary vocabulary;
  for (absl::string_view token : tokens) {
    TRENCADIS_RETURN_IF_ERROR(Annotate(CheckUtf8(token), "a token"));
    vocabulary.tokens.emplace_back(token);
  }
  std::vector<int64_t> types;
  TRENCADIS_RETURN_IF_ERROR(metadata.Ints("tokenizer.ggml.token_type", types));
  if (!types.empty() && types.size() != tokens.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", tokens.size(), " tokens but ", types.size(), " token types"));
  }
  for (size_t id = 0; id < tokens.size(); ++id) {
    const int64_t type = types.empty() ? 1 : types[id];
    if (type < 1 || type > 6) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", id, " has the type ", type, "; types are 1 to 6"));
    }
    vocabulary.types.push_back(static_cast<PieceType>(type));
  }
  const int64_t size = static_cast<int64_t>(tokens.size());
  SpecialTokens& special = vocabulary.special;
  TRENCADIS_ASSIGN_OR_RETURN(special.bos, ReadId(metadata, "bos_token_id", size));
  TRENCADIS_ASSIGN_OR_RETURN(special.eos, ReadId(metadata, "eos_token_id", size));
  TRENCADIS_ASSIGN_OR_RETURN(special.pad, ReadId(metadata, "padding_token_id", size));
  TRENCADIS_ASSIGN_OR_RETURN(special.unk, ReadId(metadata, "unknown_token_id", size));
  return vocabulary;
}

// The tokens to cut out of texts: control and unknown ones, those with a role, and on request the
// user-defined ones.
AddedTokens AddedTokensOf(const Vocabulary& vocabulary, bool with_user_defined) {
  const SpecialTokens& special = vocabulary.special;
  std::map<int32_t, AddedToken> added;
  for (int32_t id = 0; id < static_cast<int32_t>(vocabulary.tokens.size()); ++id) {
    const PieceType type = vocabulary.types[id];
    const bool is_special = type == PieceType::kControl || type == PieceType::kUnknown ||
                            id == special.bos || id == special.eos;
    if (is_special || (with_user_defined && type == PieceType::kUserDefined)) {
      added[id] = {.content = vocabulary.tokens[id], .special = is_special};
    }
  }
  return AddedTokens(std::move(added));
}

// Leaves one piece marked as unknown, the one that the file names by id if it does. Files exist
// that mark it as a control piece, and others that mark several pieces as unknown.
void MarkUnknownPiece(Vocabulary& vocabulary) {
  std::optional<int32_t>& unk = vocabulary.special.unk;
  for (int32_t id = 0; id < static_cast<int32_t>(vocabulary.types.size()); ++id) {
    if (vocabulary.types[id] != PieceType::kUnknown) continue;
    if (!unk) unk = id;
    if (id != unk) vocabulary.types[id] = PieceType::kControl;
  }
  if (unk) vocabulary.types[*unk] = PieceType::kUnknown;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePieceFromGguf(const GgufMetadata& metadata,
                                                                 Vocabulary vocabulary) {
  std::vector<float> scores;
  TRENCADIS_RETURN_IF_ERROR(metadata.Numbers("tokenizer.ggml.scores", scores));
  if (scores.size() != vocabulary.tokens.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", vocabulary.tokens.size(),
                                                   " tokens but ", scores.size(), " scores"));
  }
  MarkUnknownPiece(vocabulary);
  SentencePieceOptions options;
  options.special = vocabulary.special;
  TRENCADIS_RETURN_IF_ERROR(metadata.Bool("tokenizer.ggml.add_bos_token", options.add_bos));
  TRENCADIS_RETURN_IF_ERROR(metadata.Bool("tokenizer.ggml.add_eos_token", options.add_eos));
  ScoreBpeOptions model_options;
  TRENCADIS_RETURN_IF_ERROR(
      metadata.Bool("tokenizer.ggml.add_space_prefix", model_options.add_dummy_prefix));
  std::vector<ScoredPiece> pieces;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    pieces.push_back({vocabulary.tokens[id], scores[id], vocabulary.types[id]});
  }
  // User-defined pieces are the model's own affair.
  options.added = AddedTokensOf(vocabulary, /*with_user_defined=*/false);
  const SpecialTokens& special = vocabulary.special;
  model_options.bos_id = special.bos.value_or(-1);
  model_options.eos_id = special.eos.value_or(-1);
  model_options.pad_id = special.pad.value_or(-1);
  TRENCADIS_ASSIGN_OR_RETURN(auto model, ScoreBpeModel::Create(std::move(pieces), model_options));
  return std::make_unique<SentencePieceTokenizer>(std::move(model), std::move(options));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ByteLevelFromGguf(const GgufMetadata& metadata,
                                                             Vocabulary vocabulary) {
  std::string pre = "default";
  TRENCADIS_RETURN_IF_ERROR(metadata.String("tokenizer.ggml.pre", pre));
  TRENCADIS_ASSIGN_OR_RETURN(auto pre_tokenizer, PreTokenizer::ForName(pre));
  std::vector<absl::string_view> merges;
  TRENCADIS_RETURN_IF_ERROR(metadata.Strings("tokenizer.ggml.merges", merges));
  ByteLevelBpeOptions options;
  options.special = vocabulary.special;
  options.special.unk.reset();  // every text has bytes; files name an arbitrary token here
  options.ignore_merges = options.add_bos = pre == "llama-bpe";
  TRENCADIS_RETURN_IF_ERROR(metadata.Bool("tokenizer.ggml.add_bos_token", options.add_bos));
  TRENCADIS_RETURN_IF_ERROR(metadata.Bool("tokenizer.ggml.add_eos_token", options.add_eos));
  options.added = AddedTokensOf(vocabulary, /*with_user_defined=*/true);
  TRENCADIS_ASSIGN_OR_RETURN(
      std::unique_ptr<Tokenizer> tokenizer,
      ByteLevelBpeTokenizer::Create(std::move(vocabulary.tokens), merges, std::move(pre_tokenizer),
                                    std::move(options)));
  return tokenizer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerFromGguf(const GgufMetadata& metadata) {
  std::string model;
  TRENCADIS_RETURN_IF_ERROR(metadata.String("tokenizer.ggml.model", model));
  if (model.empty()) return absl::NotFoundError("the file embeds no tokenizer");
  if (model != "llama" && model != "gpt2") {
    return absl::UnimplementedError(
        absl::StrCat("tokenizer.ggml.model is '", model, "'; only 'llama' and 'gpt2' can be read"));
  }
  TRENCADIS_ASSIGN_OR_RETURN(Vocabulary vocabulary, ReadVocabulary(metadata));
  return model == "llama" ? SentencePieceFromGguf(metadata, std::move(vocabulary))
                          : ByteLevelFromGguf(metadata, std::move(vocabulary));
}

}  // namespace trencadis::tokenizers
