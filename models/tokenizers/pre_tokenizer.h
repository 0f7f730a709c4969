// PreTokenizer: cuts text into the words inside which byte-level BPE merges.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PRE_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_PRE_TOKENIZER_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/tokenizers/regex.h"

namespace trencadis::tokenizers {

// GPT-2's expression for words.
extern const absl::string_view kGpt2Words;

// Immutable; Split may run in any number of threads.
class PreTokenizer {
 public:
  // By llama.cpp's name (`tokenizer.ggml.pre`): "default" or "gpt-2", "smollm", "llama-bpe" or
  // "qwen2". Unimplemented for others.
  static absl::StatusOr<std::unique_ptr<PreTokenizer>> ForName(absl::string_view name);
  // The regular expressions behind a name; each cuts the words of the one before at its matches.
  static absl::StatusOr<std::vector<absl::string_view>> ExpressionsOf(absl::string_view name);

  // The words of `text` (UTF-8), in order; joined they are `text`. Views into it. ResourceExhausted
  // when a regular expression needs more memory than its matcher allows.
  absl::StatusOr<std::vector<absl::string_view>> Split(absl::string_view text) const;

 private:
  explicit PreTokenizer(std::vector<std::unique_ptr<Regex>> stages) : stages_(std::move(stages)) {}

  std::vector<std::unique_ptr<Regex>> stages_;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_PRE_TOKENIZER_H_
