// Regex: the regular expressions of tokenizer files, over UTF-8.
#ifndef TRENCADIS_MODELS_TOKENIZERS_REGEX_H_
#define TRENCADIS_MODELS_TOKENIZERS_REGEX_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::tokenizers {

struct ByteRange {
  size_t begin;
  size_t end;
};

// Immutable; matching may run in any number of threads.
class Regex {
 public:
  // Takes what the files' own engines (Oniguruma, Rust's regex) and ICU understand alike. \s and \S
  // mean Unicode's White_Space. InvalidArgument for a malformed expression.
  static absl::StatusOr<std::unique_ptr<Regex>> Compile(absl::string_view expression);
  ~Regex();

  // The matches in `text`, in order, that do not overlap and are not empty. ResourceExhausted when
  // matching needs more memory than ICU allows.
  absl::StatusOr<std::vector<ByteRange>> FindAll(absl::string_view text) const;

 private:
  struct Pattern;
  explicit Regex(std::unique_ptr<Pattern> pattern);

  std::unique_ptr<Pattern> pattern_;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_REGEX_H_
