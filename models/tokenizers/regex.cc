#include "models/tokenizers/regex.h"

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace trencadis::tokenizers {
namespace {

// UTF-8 bytes of a UTF-16 unit; a surrogate is half of a character of four bytes.
size_t Utf8Bytes(char16_t unit) {
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return U16_IS_SURROGATE(unit) ? 2 : 3;
}

// Turns positions in UTF-16 into positions in UTF-8; asked for growing positions only.
class Utf8Positions {
 public:
  explicit Utf8Positions(const icu::UnicodeString& units) : units_(units) {}

  size_t At(int32_t unit) {
    for (; unit_ < unit; ++unit_) byte_ += Utf8Bytes(units_.charAt(unit_));
    return byte_;
  }

 private:
  const icu::UnicodeString& units_;
  int32_t unit_ = 0;
  size_t byte_ = 0;
};

}  // namespace

struct Regex::Pattern {
  std::unique_ptr<icu::RegexPattern> compiled;
};

Regex::Regex(std::unique_ptr<Pattern> pattern) : pattern_(std::move(pattern)) {}
Regex::~Regex() = default;

absl::StatusOr<std::unique_ptr<Regex>> Regex::Compile(absl::string_view expression) {
  // ICU's \s leaves out U+000B and U+0085. A backslash that is itself escaped is not the start of
  // \s.
  const std::string translated = absl::StrReplaceAll(
      expression,
      {{R"(\\)", R"(\\)"}, {R"(\s)", R"(\p{White_Space})"}, {R"(\S)", R"(\P{White_Space})"}});
  UErrorCode code = U_ZERO_ERROR;
  auto pattern = std::make_unique<Pattern>();
  pattern->compiled.reset(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(translated), 0, code));
  if (U_FAILURE(code)) {
    return absl::InvalidArgumentError(absl::StrCat("the regular expression '", expression,
                                                   "' cannot be compiled: ", u_errorName(code)));
  }
  return std::unique_ptr<Regex>(new Regex(std::move(pattern)));
}

absl::StatusOr<std::vector<ByteRange>> Regex::FindAll(absl::string_view text) const {
  const icu::UnicodeString units =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<icu::RegexMatcher> matcher(pattern_->compiled->matcher(units, code));
  Utf8Positions positions(units);
  std::vector<ByteRange> matches;
  while (U_SUCCESS(code) && matcher->find(code)) {
    const size_t begin = positions.At(matcher->start(code));
    const size_t end = positions.At(matcher->end(code));
    if (begin < end) matches.push_back({begin, end});
  }
  if (U_SUCCESS(code)) return matches;
  return absl::ResourceExhaustedError(
      absl::StrCat("matching a regular expression failed: ", u_errorName(code)));
}

}  // namespace trencadis::tokenizers
