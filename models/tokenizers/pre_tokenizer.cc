#include "models/tokenizers/pre_tokenizer.h"

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

// The expressions of the tokenizers' own files (Hugging Face tokenizer.json; the same in
// llama.cpp).
constexpr absl::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr absl::string_view kSingleDigit = R"(\p{N})";
constexpr absl::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr absl::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Stages run one after the other, each on the words of the one before.
struct Kind {
  absl::string_view name;
  std::vector<absl::string_view> stages;
};

const std::vector<Kind>& Kinds() {
  static const auto* const kKinds = new std::vector<Kind>{{"default", {kGpt2}},
                                                          {"gpt-2", {kGpt2}},
                                                          {"smollm", {kSingleDigit, kGpt2}},
                                                          {"llama-bpe", {kLlama3}},
                                                          {"qwen2", {kQwen2}}};
  return *kKinds;
}

absl::Status FromIcu(UErrorCode code) {
  if (U_SUCCESS(code)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("splitting the text into words failed: ", u_errorName(code)));
}

// A word as a range of UTF-16 units.
struct Range {
  int32_t begin;
  int32_t end;
};

// Cuts `range` at each match of `matcher`'s expression, which sees nothing outside of it; what lies
// between two matches is a word too.
absl::Status SplitRange(icu::RegexMatcher& matcher, Range range, std::vector<Range>& words) {
  UErrorCode code = U_ZERO_ERROR;
  matcher.region(range.begin, range.end, code);
  int32_t at = range.begin;
  while (U_SUCCESS(code) && matcher.find(code)) {
    const Range match{matcher.start(code), matcher.end(code)};
    if (match.begin > at) words.push_back({at, match.begin});
    if (match.end > match.begin) words.push_back(match);
    at = match.end;
  }
  if (at < range.end) words.push_back({at, range.end});
  return FromIcu(code);
}

// UTF-8 bytes of a UTF-16 unit; a surrogate is half of a character of four bytes.
size_t Utf8Bytes(char16_t unit) {
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return U16_IS_SURROGATE(unit) ? 2 : 3;
}

}  // namespace

struct PreTokenizer::Patterns {
  std::vector<std::unique_ptr<icu::RegexPattern>> stages;
};

PreTokenizer::PreTokenizer(std::unique_ptr<Patterns> patterns) : patterns_(std::move(patterns)) {}
PreTokenizer::~PreTokenizer() = default;

absl::StatusOr<std::unique_ptr<PreTokenizer>> PreTokenizer::ForName(absl::string_view name) {
  std::string known;
  for (const Kind& kind : Kinds()) {
    if (kind.name != name) {
      absl::StrAppend(&known, known.empty() ? "'" : ", '", kind.name, "'");
      continue;
    }
    auto patterns = std::make_unique<Patterns>();
    for (absl::string_view stage : kind.stages) {
      // ICU's \s leaves out U+000B and U+0085, which the expressions' own engine takes.
      const std::string expression = absl::StrReplaceAll(
          stage, {{R"(\s)", R"(\p{White_Space})"}, {R"(\S)", R"(\P{White_Space})"}});
      UErrorCode code = U_ZERO_ERROR;
      patterns->stages.emplace_back(
          icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(expression), 0, code));
      TRENCADIS_CHECK(U_SUCCESS(code));
    }
    return std::unique_ptr<PreTokenizer>(new PreTokenizer(std::move(patterns)));
  }
  return absl::UnimplementedError(
      absl::StrCat("the pre-tokenizer '", name, "' is not known; known are ", known));
}

absl::StatusOr<std::vector<absl::string_view>> PreTokenizer::Split(absl::string_view text) const {
  const icu::UnicodeString units =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  std::vector<Range> words = {{0, units.length()}};
  for (const auto& stage : patterns_->stages) {
    UErrorCode code = U_ZERO_ERROR;
    const std::unique_ptr<icu::RegexMatcher> matcher(stage->matcher(units, code));
    TRENCADIS_RETURN_IF_ERROR(FromIcu(code));
    std::vector<Range> finer;
    for (const Range& word : words) TRENCADIS_RETURN_IF_ERROR(SplitRange(*matcher, word, finer));
    words = std::move(finer);
  }
  std::vector<absl::string_view> views;
  size_t begin = 0;
  for (const Range& word : words) {
    size_t bytes = 0;
    for (int32_t i = word.begin; i < word.end; ++i) bytes += Utf8Bytes(units.charAt(i));
    views.push_back(text.substr(begin, bytes));
    begin += bytes;
  }
  return views;
}

}  // namespace trencadis::tokenizers
