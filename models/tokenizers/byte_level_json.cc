#include "models/tokenizers/byte_level_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "models/tokenizers/pre_tokenizer.h"
#include "models/tokenizers/score_bpe_model.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

using Json = nlohmann::ordered_json;

Json AddedTokens(const Tokenizer& tokenizer, const std::vector<int64_t>& types) {
  Json added = Json::array();
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const bool user_defined =
        !types.empty() && types[id] == static_cast<int64_t>(PieceType::kUserDefined);
    if (!tokenizer.IsSpecial(id) && !user_defined) continue;
    added.push_back({{"id", id},
                     {"content", tokenizer.TokenText(id)},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", tokenizer.IsSpecial(id)}});
  }
  return added;
}

// The expressions one after the other, then bytes to printable characters.
Json WordSplitters(const std::vector<absl::string_view>& expressions) {
  Json steps = Json::array();
  for (absl::string_view expression : expressions) {
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", std::string(expression)}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  steps.push_back({{"type", "ByteLevel"},
                   {"add_prefix_space", false},
                   {"trim_offsets", true},
                   {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

// Puts the tokens around a text that `tokenizer` puts around an empty one.
absl::StatusOr<Json> Template(const Tokenizer& tokenizer) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<int32_t> around, tokenizer.Encode(""));
  const std::optional<int32_t> bos = tokenizer.special_tokens().bos;
  const bool has_bos = !around.empty() && around.front() == bos;
  Json single = Json::array(), special = Json::object();
  const auto add_token = [&](int32_t id) {
    const std::string text = tokenizer.TokenText(id);
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    special[text] = {{"id", text}, {"ids", Json::array({id})}, {"tokens", Json::array({text})}};
  };
  if (has_bos) add_token(*bos);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (size_t i = has_bos ? 1 : 0; i < around.size(); ++i) add_token(around[i]);
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  return Json{{"type", "TemplateProcessing"},
              {"single", std::move(single)},
              {"pair", std::move(pair)},
              {"special_tokens", std::move(special)}};
}

}  // namespace

absl::StatusOr<std::string> ByteLevelTokenizerJson(const checkpoint::GgufMetadata& metadata,
                                                   const Tokenizer& tokenizer) {
  std::string pre = "default";
  std::vector<int64_t> types;
  std::vector<absl::string_view> merges;
  TRENCADIS_RETURN_IF_ERROR(metadata.String("tokenizer.ggml.pre", pre));
  TRENCADIS_RETURN_IF_ERROR(metadata.Ints("tokenizer.ggml.token_type", types));
  TRENCADIS_RETURN_IF_ERROR(metadata.Strings("tokenizer.ggml.merges", merges));
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<absl::string_view> expressions,
                             PreTokenizer::ExpressionsOf(pre));
  // An index by token keeps this linear; ordered_json's own keys are searched one by one.
  nlohmann::json vocab = nlohmann::json::object();
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) vocab[tokenizer.TokenText(id)] = id;
  Json merge_list = Json::array();
  for (absl::string_view merge : merges) merge_list.push_back(std::string(merge));

  Json file;
  file["version"] = "1.0";
  file["truncation"] = nullptr;
  file["padding"] = nullptr;
  file["added_tokens"] = AddedTokens(tokenizer, types);
  file["normalizer"] = nullptr;
  file["pre_tokenizer"] = WordSplitters(expressions);
  TRENCADIS_ASSIGN_OR_RETURN(file["post_processor"], Template(tokenizer));
  file["decoder"] = {{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", true}};
  file["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", pre == "llama-bpe"}};
  file["model"]["vocab"] = std::move(vocab);
  file["model"]["merges"] = std::move(merge_list);
  return file.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trencadis::tokenizers
