#include "models/tokenizers/llama_tokenizer.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "models/checkpoint/json_text.h"
#include "models/tokenizers/added_tokens.h"
#include "models/tokenizers/sentencepiece_library.h"
#include "models/tokenizers/sentencepiece_tokenizer.h"
#include "models/tokenizers/token_roles.h"
#include "runtime/base/file.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

using checkpoint::JsonFields;
using checkpoint::ReadJsonObject;
using Json = nlohmann::json;

// An embedding of more rows than this does not exist; a larger id is a damaged file.
constexpr int64_t kMaxTokenId = 1 << 24;

// What the JSON files beside a model say.
struct LlamaSettings {
  bool add_bos = true;
  bool add_eos = false;
  bool legacy = true;
  TokenRoles roles{.bos = "<s>", .eos = "</s>", .unk = "<unk>"};
  std::map<int32_t, AddedToken> added;  // added_tokens_decoder and added_tokens.json
};

absl::StatusOr<int32_t> CheckTokenId(int64_t id) {
  if (id >= 0 && id <= kMaxTokenId) return static_cast<int32_t>(id);
  return absl::InvalidArgumentError(
      absl::StrCat("the token id ", id, " is outside [0, ", kMaxTokenId, "]"));
}

absl::Status ReadAddedTokensDecoder(JsonFields& fields, LlamaSettings& settings) {
  const Json decoder = fields.Object("added_tokens_decoder");
  for (const auto& [key, value] : decoder.items()) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(key, &number) || !value.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat("added_tokens_decoder.", key, " is not a token under its id"));
    }
    TRENCADIS_ASSIGN_OR_RETURN(const int32_t id, CheckTokenId(number));
    JsonFields token_fields(value);
    AddedToken& token = settings.added[id];
    token_fields.String("content", token.content);
    token_fields.Bool("special", token.special);
    token_fields.Bool("lstrip", token.lstrip);
    token_fields.Bool("rstrip", token.rstrip);
    token_fields.Bool("single_word", token.single_word);
    TRENCADIS_RETURN_IF_ERROR(token_fields.status());
  }
  return absl::OkStatus();
}

absl::Status ReadConfig(Json object, LlamaSettings& settings) {
  JsonFields fields(std::move(object));
  std::string tokenizer_class = "LlamaTokenizer";
  fields.String("tokenizer_class", tokenizer_class);
  // The generic class says nothing about the vocabulary.
  if (!absl::StartsWith(tokenizer_class, "LlamaTokenizer") &&
      tokenizer_class != "PreTrainedTokenizerFast") {
    return absl::UnimplementedError(absl::StrCat(
        "tokenizer_class is '", tokenizer_class,
        "'; with a tokenizer.model only LlamaTokenizer and LlamaTokenizerFast can be read"));
  }
  fields.Bool("add_bos_token", settings.add_bos);
  fields.Bool("add_eos_token", settings.add_eos);
  fields.Bool("legacy", settings.legacy);
  TRENCADIS_RETURN_IF_ERROR(ReadTokenRoles(fields, settings.roles));
  TRENCADIS_RETURN_IF_ERROR(ReadAddedTokensDecoder(fields, settings));
  return fields.status();
}

absl::Status ReadSpecialTokensMap(Json object, LlamaSettings& settings) {
  JsonFields fields(std::move(object));
  return ReadTokenRoles(fields, settings.roles);
}

absl::Status ReadAddedTokens(Json object, LlamaSettings& settings) {
  for (const auto& [content, number] : object.items()) {
    if (!number.is_number_integer()) {
      return absl::InvalidArgumentError(absl::StrCat("'", content, "' has no integer id"));
    }
    TRENCADIS_ASSIGN_OR_RETURN(const int32_t id, CheckTokenId(number.get<int64_t>()));
    if (settings.added.count(id) == 0) settings.added[id].content = content;
  }
  return absl::OkStatus();
}

using ReadObject = absl::Status (*)(Json, LlamaSettings&);

absl::StatusOr<LlamaSettings> ReadSettings(const std::string& directory) {
  LlamaSettings settings;
  if (directory.empty()) return settings;
  // Later files give way to tokenizer_config.json, as in transformers.
  const std::pair<const char*, ReadObject> files[] = {
      {"special_tokens_map.json", ReadSpecialTokensMap},
      {"tokenizer_config.json", ReadConfig},
      {"added_tokens.json", ReadAddedTokens},
  };
  for (const auto& [name, read] : files) {
    const std::string path = JoinPath(directory, name);
    if (!RealFileSystem().Exists(path)) continue;
    TRENCADIS_ASSIGN_OR_RETURN(Json object, ReadJsonObject(path));
    const absl::Status status = read(std::move(object), settings);
    if (!status.ok()) return Annotate(status, path);
  }
  return settings;
}

// The id of a token with a role: one of the added tokens, or a piece of the model.
std::optional<int32_t> FindRole(const std::string& content, const LlamaSettings& settings,
                                const SentencePieceModel& model) {
  if (content.empty()) return std::nullopt;
  for (const auto& [id, token] : settings.added) {
    if (token.content == content) return id;
  }
  return model.Find(content);
}

SentencePieceOptions ToOptions(LlamaSettings settings, const SentencePieceModel& model) {
  SentencePieceOptions options;
  options.add_bos = settings.add_bos;
  options.add_eos = settings.add_eos;
  options.legacy = settings.legacy;
  SpecialTokens& special = options.special;
  special.bos = FindRole(settings.roles.bos, settings, model);
  special.eos = FindRole(settings.roles.eos, settings, model);
  special.unk = FindRole(settings.roles.unk, settings, model);
  special.pad = FindRole(settings.roles.pad, settings, model);
  const auto mark = [&](const std::optional<int32_t>& id) {
    if (!id) return;
    AddedToken& token = settings.added[*id];
    if (token.content.empty()) token.content = model.Piece(*id);
    token.special = true;
  };
  for (const auto& id : {special.bos, special.eos, special.unk, special.pad}) mark(id);
  for (const std::string& content : settings.roles.more_special) {
    mark(FindRole(content, settings, model));
  }
  options.added = AddedTokens(std::move(settings.added));
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadLlamaTokenizer(const std::string& model_path,
                                                              const std::string& directory) {
  TRENCADIS_ASSIGN_OR_RETURN(LlamaSettings settings, ReadSettings(directory));
  TRENCADIS_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(model_path));
  const absl::string_view bytes = file.text();
  std::string error;
  std::unique_ptr<SentencePieceModel> model =
      ParseSentencePieceModel({bytes.data(), bytes.size()}, settings.legacy, &error);
  if (model == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(model_path, " is not a SentencePiece model: ", error));
  }
  SentencePieceOptions options = ToOptions(std::move(settings), *model);
  return std::make_unique<SentencePieceTokenizer>(std::move(model), std::move(options));
}

}  // namespace trencadis::tokenizers
