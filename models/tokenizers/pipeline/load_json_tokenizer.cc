#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "models/checkpoint/json_text.h"
#include "models/tokenizers/pipeline/decoder.h"
#include "models/tokenizers/pipeline/json_tokenizer.h"
#include "models/tokenizers/pipeline/normalizer.h"
#include "models/tokenizers/pipeline/token_model.h"
#include "models/tokenizers/pipeline/word_splitter.h"
#include "models/tokenizers/token_roles.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using checkpoint::JsonFields;
using Json = nlohmann::json;

// An embedding of more rows than this does not exist; a larger id is a damaged file.
constexpr int64_t kMaxTokenId = 1 << 24;

// The value under `key`; null when `json` has none or is no object.
Json Field(const Json& json, const char* key) {
  return json.is_object() ? json.value(key, Json()) : Json();
}

absl::StatusOr<int32_t> ReadId(const Json& json) {
  if (json.is_number_unsigned() && json.get<uint64_t>() <= kMaxTokenId) return json.get<int32_t>();
  return absl::InvalidArgumentError(
      absl::StrCat("the token id ", checkpoint::ShortText(json), " is not in [0, 2^24]"));
}

absl::Status ReadAddedTokens(const Json& list, JsonTokenizerParts& parts) {
  std::map<int32_t, AddedToken> as_is, normalized_ones;
  for (const Json& entry : list) {
    if (!entry.is_object()) return absl::InvalidArgumentError("an added token is not an object");
    JsonFields fields(entry);
    TRENCADIS_ASSIGN_OR_RETURN(const int32_t id, ReadId(fields.Take("id")));
    AddedToken token;
    fields.String("content", token.content);
    fields.Bool("special", token.special);
    fields.Bool("lstrip", token.lstrip);
    fields.Bool("rstrip", token.rstrip);
    fields.Bool("single_word", token.word_bounded);
    bool normalized = !token.special;
    fields.Bool("normalized", normalized);
    TRENCADIS_RETURN_IF_ERROR(fields.status());
    if (normalized && parts.normalizer != nullptr) {
      TRENCADIS_ASSIGN_OR_RETURN(token.searched, parts.normalizer->Apply(token.content));
    }
    (normalized ? normalized_ones : as_is)[id] = std::move(token);
  }
  parts.added = AddedTokens(std::move(as_is));
  parts.added_normalized = AddedTokens(std::move(normalized_ones));
  return absl::OkStatus();
}

absl::Status ReadTemplate(const Json& json, JsonTokenizerParts& parts) {
  const Json ids_by_name = Field(json, "special_tokens");
  std::vector<int32_t> before, after;
  bool after_text = false;
  for (const Json& item : Field(json, "single")) {
    if (item.contains("Sequence")) {
      after_text = true;
      continue;
    }
    const Json special = Field(item, "SpecialToken");
    const Json name = Field(special, "id");
    if (!name.is_string() || !ids_by_name.contains(name.get<std::string>())) {
      return absl::InvalidArgumentError(absl::StrCat("the template's item ",
                                                     checkpoint::ShortText(item),
                                                     " names no special token of its own"));
    }
    for (const Json& id : Field(ids_by_name[name.get<std::string>()], "ids")) {
      TRENCADIS_ASSIGN_OR_RETURN(const int32_t token, ReadId(id));
      (after_text ? after : before).push_back(token);
    }
  }
  // A later processor puts its tokens around those of an earlier one.
  parts.before.insert(parts.before.begin(), before.begin(), before.end());
  parts.after.insert(parts.after.end(), after.begin(), after.end());
  return absl::OkStatus();
}

absl::Status ReadClsAndSep(const Json& json, JsonTokenizerParts& parts) {
  for (const char* key : {"cls", "sep"}) {
    const Json pair = Field(json, key);
    if (!pair.is_array() || pair.size() != 2) {
      return absl::InvalidArgumentError(absl::StrCat("\"", key, "\" is not a token and its id"));
    }
    TRENCADIS_ASSIGN_OR_RETURN(const int32_t id, ReadId(pair[1]));
    (key[0] == 'c' ? parts.before : parts.after).push_back(id);
  }
  return absl::OkStatus();
}

absl::Status ReadPostProcessor(const Json& json, JsonTokenizerParts& parts) {
  if (json.is_null()) return absl::OkStatus();
  if (!json.is_object()) return absl::InvalidArgumentError("a post-processor is not an object");
  const Json type = Field(json, "type");
  if (type == "ByteLevel") return absl::OkStatus();  // moves offsets only
  if (type == "TemplateProcessing") return ReadTemplate(json, parts);
  if (type == "BertProcessing" || type == "RobertaProcessing") return ReadClsAndSep(json, parts);
  if (type == "Sequence") {
    for (const Json& step : Field(json, "processors")) {
      TRENCADIS_RETURN_IF_ERROR(ReadPostProcessor(step, parts));
    }
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("the post-processor ", checkpoint::ShortText(type), " is not known"));
}

// What tokenizer_config.json and special_tokens_map.json add to a tokenizer.json.
struct Settings {
  TokenRoles roles;
  std::string tokenizer_class;
  bool add_bos = true;
  bool add_eos = false;
  bool clean_up_spaces = false;
};

absl::StatusOr<Settings> ReadSettings(const std::string& directory) {
  Settings settings;
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    const std::string path = JoinPath(directory, name);
    if (!RealFileSystem().Exists(path)) continue;
    TRENCADIS_ASSIGN_OR_RETURN(Json object, checkpoint::ReadJsonObject(path));
    JsonFields fields(std::move(object));
    fields.String("tokenizer_class", settings.tokenizer_class);
    fields.Bool("add_bos_token", settings.add_bos);
    fields.Bool("add_eos_token", settings.add_eos);
    fields.Bool("clean_up_tokenization_spaces", settings.clean_up_spaces);
    const absl::Status status = ReadTokenRoles(fields, settings.roles);
    if (!status.ok()) return Annotate(status, path);
    if (!fields.status().ok()) return Annotate(fields.status(), path);
  }
  return settings;
}

// Finds the tokens with roles, and makes them special where the file does not.
void AssignRoles(const Settings& settings, JsonTokenizerParts& parts) {
  std::map<int32_t, AddedToken> added = parts.added.tokens();
  const auto find = [&](const std::string& content) -> std::optional<int32_t> {
    if (content.empty()) return std::nullopt;
    std::optional<int32_t> id = parts.added.FindContent(content);
    if (!id) id = parts.added_normalized.FindContent(content);
    if (!id) id = parts.model->Find(content);
    if (id && parts.added_normalized.Find(*id) == nullptr) {
      added[*id].content = content;
      added[*id].special = true;
    }
    return id;
  };
  parts.special.bos = find(settings.roles.bos);
  parts.special.eos = find(settings.roles.eos);
  parts.special.unk = find(settings.roles.unk);
  parts.special.pad = find(settings.roles.pad);
  for (const std::string& content : settings.roles.more_special) find(content);
  parts.added = AddedTokens(std::move(added));
  parts.clean_up_spaces = settings.clean_up_spaces;
  // LlamaTokenizerFast writes its own template over the file's.
  if (!absl::StartsWith(settings.tokenizer_class, "LlamaTokenizer")) return;
  parts.before.clear();
  parts.after.clear();
  if (settings.add_bos && parts.special.bos) parts.before = {*parts.special.bos};
  if (settings.add_eos && parts.special.eos) parts.after = {*parts.special.eos};
}

}  // namespace

absl::StatusOr<JsonTokenizerParts> ParseJsonTokenizer(const Json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError("not a JSON object");
  const auto part = [&](const char* key) { return Field(json, key); };
  JsonTokenizerParts parts;
  TRENCADIS_ASSIGN_OR_RETURN(parts.normalizer, ParseNormalizer(part("normalizer")));
  TRENCADIS_ASSIGN_OR_RETURN(parts.splitter, ParseWordSplitter(part("pre_tokenizer")));
  TRENCADIS_ASSIGN_OR_RETURN(parts.model, ParseTokenModel(part("model")));
  TRENCADIS_ASSIGN_OR_RETURN(parts.decoder, ParseDecoder(part("decoder")));
  TRENCADIS_RETURN_IF_ERROR(ReadAddedTokens(part("added_tokens"), parts));
  TRENCADIS_RETURN_IF_ERROR(ReadPostProcessor(part("post_processor"), parts));
  return parts;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadJsonTokenizer(const std::string& directory) {
  const std::string path = JoinPath(directory, "tokenizer.json");
  TRENCADIS_ASSIGN_OR_RETURN(const Json json, checkpoint::ReadJsonObject(path));
  absl::StatusOr<JsonTokenizerParts> parts = ParseJsonTokenizer(json);
  if (!parts.ok()) return Annotate(parts.status(), path);
  TRENCADIS_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(directory));
  AssignRoles(settings, *parts);
  return std::make_unique<JsonTokenizer>(std::move(*parts));
}

}  // namespace trencadis::tokenizers::pipeline
