// PreTokenizer: cuts text into the words inside which byte-level BPE merges.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PRE_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_PRE_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::tokenizers {

// Immutable; Split may run in any number of threads.
class PreTokenizer {
 public:
  // By llama.cpp's name (`tokenizer.ggml.pre`): "default" or "gpt-2", "smollm", "llama-bpe" or
  // "qwen2". Unimplemented for others.
  static absl::StatusOr<std::unique_ptr<PreTokenizer>> ForName(absl::string_view name);
  ~PreTokenizer();

  // The words of `text` (UTF-8), in order; joined they are `text`. Views into it. ResourceExhausted
  // when a regular expression needs more memory than its matcher allows.
  absl::StatusOr<std::vector<absl::string_view>> Split(absl::string_view text) const;

 private:
  struct Patterns;
  explicit PreTokenizer(std::unique_ptr<Patterns> patterns);

  std::unique_ptr<Patterns> patterns_;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_PRE_TOKENIZER_H_
