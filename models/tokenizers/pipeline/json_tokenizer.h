// JsonTokenizer: the tokenizer that a Hugging Face tokenizer.json describes.
//
// Text is cut at added tokens; each part between is normalized, cut into words and turned into ids
// by the model; special tokens go around the whole. Truncation and padding that a file asks for are
// its user's business and not done here.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_JSON_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_JSON_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/tokenizers/added_tokens.h"
#include "models/tokenizers/pipeline/parts.h"
#include "models/tokenizers/tokenizer.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

struct JsonTokenizerParts {
  std::unique_ptr<Normalizer> normalizer;  // may be null, as the next two
  std::unique_ptr<WordSplitter> splitter;
  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<TokenModel> model;
  // Found in the text as it is, and those found in normalized text.
  AddedTokens added;
  AddedTokens added_normalized;
  // Put around a text.
  std::vector<int32_t> before;
  std::vector<int32_t> after;
  SpecialTokens special;
  // Whether decoded text goes through CleanUpSpaces.
  bool clean_up_spaces = false;
};

class JsonTokenizer : public Tokenizer {
 public:
  explicit JsonTokenizer(JsonTokenizerParts parts);

  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              const EncodeOptions& options) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int32_t> ids,
                                     const DecodeOptions& options) const override;
  int64_t vocab_size() const override { return vocab_size_; }
  const SpecialTokens& special_tokens() const override { return parts_.special; }
  bool IsSpecial(int32_t id) const override;
  std::string TokenText(int32_t id) const override;
  std::optional<int32_t> FindToken(absl::string_view token_text) const override;

 private:
  absl::Status EncodePart(const TextPart& part, bool at_start, bool parse_special,
                          std::vector<int32_t>& ids) const;
  absl::Status EncodeWords(std::string text, bool at_start, std::vector<int32_t>& ids) const;
  const AddedToken* FindAdded(int32_t id) const;

  JsonTokenizerParts parts_;
  int64_t vocab_size_;
};

// `directory` holds tokenizer.json and, where they are there, tokenizer_config.json and
// special_tokens_map.json, which say which token has which role.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadJsonTokenizer(const std::string& directory);

// The tokenizer of a parsed tokenizer.json alone; no token has a role.
absl::StatusOr<JsonTokenizerParts> ParseJsonTokenizer(const nlohmann::json& json);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_JSON_TOKENIZER_H_
