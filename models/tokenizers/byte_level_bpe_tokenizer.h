// ByteLevelBpeTokenizer: GPT-2's tokenizer and its relatives (SmolLM, Llama 3, Qwen). Text is cut
// into words, each word's bytes become printable characters, and ranked merges join them.
#ifndef TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_BPE_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_BPE_TOKENIZER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "models/tokenizers/added_tokens.h"
#include "models/tokenizers/pre_tokenizer.h"
#include "models/tokenizers/tokenizer.h"

namespace trencadis::tokenizers {

struct ByteLevelBpeOptions {
  bool add_bos = false;
  bool add_eos = false;
  // A word that is a token as a whole becomes it without merging (Llama 3).
  bool ignore_merges = false;
  SpecialTokens special;
  AddedTokens added;
};

class ByteLevelBpeTokenizer : public Tokenizer {
 public:
  // `tokens` by id, in GPT-2's printable characters. `merges` as "left right", best first.
  // InvalidArgument when a merge's parts or result are no tokens.
  static absl::StatusOr<std::unique_ptr<ByteLevelBpeTokenizer>> Create(
      std::vector<std::string> tokens, const std::vector<absl::string_view>& merges,
      std::unique_ptr<PreTokenizer> pre_tokenizer, ByteLevelBpeOptions options);

  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              const EncodeOptions& options) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const int32_t> ids,
                                     const DecodeOptions& options) const override;
  int64_t vocab_size() const override { return static_cast<int64_t>(tokens_.size()); }
  const SpecialTokens& special_tokens() const override { return options_.special; }
  bool IsSpecial(int32_t id) const override;
  std::string TokenText(int32_t id) const override;
  std::optional<int32_t> FindToken(absl::string_view token_text) const override;

 private:
  struct Merge {
    int32_t rank;
    int32_t token;
  };

  ByteLevelBpeTokenizer(std::vector<std::string> tokens,
                        std::unique_ptr<PreTokenizer> pre_tokenizer, ByteLevelBpeOptions options);
  absl::Status IndexMerges(const std::vector<absl::string_view>& merges);
  void AppendWord(absl::string_view word, std::vector<int32_t>& ids) const;

  std::vector<std::string> tokens_;
  std::unique_ptr<PreTokenizer> pre_tokenizer_;
  ByteLevelBpeOptions options_;
  absl::flat_hash_map<absl::string_view, int32_t> ids_;  // views into tokens_
  std::array<int32_t, 256> byte_ids_;                    // -1 where a byte has no token
  absl::flat_hash_map<std::pair<int32_t, int32_t>, Merge> merges_;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_BYTE_LEVEL_BPE_TOKENIZER_H_
