// SentencePieceTokenizer: a SentencePiece vocabulary with special tokens, as transformers'
// LlamaTokenizer treats them.
#ifndef TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "models/tokenizers/added_tokens.h"
#include "models/tokenizers/sentencepiece_model.h"
#include "models/tokenizers/tokenizer.h"

namespace trencadis::tokenizers {

struct SentencePieceOptions {
  bool add_bos = true;
  bool add_eos = false;
  // LlamaTokenizer's `legacy`: every text between special tokens gets the model's leading space,
  // not only the first. When false, the model must add none of its own.
  bool legacy = true;
  SpecialTokens special;
  // Special and other tokens to cut out of texts; ids may lie beyond the model's.
  AddedTokens added;
};

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::unique_ptr<SentencePieceModel> model, SentencePieceOptions options);

  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              const EncodeOptions& options) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int32_t> ids,
                                     const DecodeOptions& options) const override;
  int64_t vocab_size() const override { return vocab_size_; }
  const SpecialTokens& special_tokens() const override { return options_.special; }
  bool IsSpecial(int32_t id) const override;
  std::string TokenText(int32_t id) const override;
  std::optional<int32_t> FindToken(absl::string_view token_text) const override;

 private:
  std::vector<int32_t> EncodeText(absl::string_view text, bool parse_special) const;
  // LlamaTokenizer._tokenize: the ids of a text between added tokens.
  std::vector<int32_t> EncodePart(const std::string& text) const;
  // LlamaTokenizer.convert_tokens_to_string.
  std::string DecodeRun(absl::Span<const int32_t> ids) const;

  std::unique_ptr<SentencePieceModel> model_;
  SentencePieceOptions options_;
  int64_t vocab_size_;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_TOKENIZER_H_
