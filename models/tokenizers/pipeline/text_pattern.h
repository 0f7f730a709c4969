// What tokenizer.json calls a pattern, and the five ways to cut text at its matches.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_TEXT_PATTERN_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_TEXT_PATTERN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/tokenizers/regex.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

// A regular expression, a fixed string, or a kind of character. Immutable, thread-safe; cheap to
// copy.
class TextPattern {
 public:
  // {"String": "x"} or {"Regex": "x"}.
  static absl::StatusOr<TextPattern> Parse(const nlohmann::json& json);
  static absl::StatusOr<TextPattern> OfRegex(absl::string_view expression);
  static TextPattern OfString(std::string text);
  // Each character for which `matches` is a match of its own.
  static TextPattern OfCharacters(std::function<bool(uint32_t code_point)> matches);

  absl::StatusOr<std::vector<ByteRange>> FindAll(absl::string_view text) const;

 private:
  std::shared_ptr<const Regex> regex_;
  std::string text_;
  std::function<bool(uint32_t)> character_;
};

// What becomes of the matches (tokenizers' SplitDelimiterBehavior).
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
absl::StatusOr<SplitBehavior> ParseSplitBehavior(absl::string_view name);

// Cuts `text` at the matches, or at what lies between them if `invert`. Views into `text`; none
// is empty.
absl::StatusOr<std::vector<absl::string_view>> SplitText(absl::string_view text,
                                                         const TextPattern& pattern,
                                                         SplitBehavior behavior,
                                                         bool invert = false);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_TEXT_PATTERN_H_
