#include "models/tokenizers/pre_tokenizer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

// The expressions of the tokenizers' own files (Hugging Face tokenizer.json; the same in
// llama.cpp).
constexpr absl::string_view kSingleDigit = R"(\p{N})";
constexpr absl::string_view kLlama3Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr absl::string_view kQwen2Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Kind {
  absl::string_view name;
  std::vector<absl::string_view> stages;
};

const std::vector<Kind>& Kinds() {
  static const auto* const kKinds = new std::vector<Kind>{{"default", {kGpt2Words}},
                                                          {"gpt-2", {kGpt2Words}},
                                                          {"smollm", {kSingleDigit, kGpt2Words}},
                                                          {"llama-bpe", {kLlama3Words}},
                                                          {"qwen2", {kQwen2Words}}};
  return *kKinds;
}

// Cuts `word` at each match; what lies between two matches is a word too.
absl::Status Cut(const Regex& regex, absl::string_view word,
                 std::vector<absl::string_view>& words) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<ByteRange> matches, regex.FindAll(word));
  size_t at = 0;
  for (const ByteRange& match : matches) {
    if (match.begin > at) words.push_back(word.substr(at, match.begin - at));
    words.push_back(word.substr(match.begin, match.end - match.begin));
    at = match.end;
  }
  if (at < word.size()) words.push_back(word.substr(at));
  return absl::OkStatus();
}

}  // namespace

const absl::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

absl::StatusOr<std::vector<absl::string_view>> PreTokenizer::ExpressionsOf(absl::string_view name) {
  std::string known;
  for (const Kind& kind : Kinds()) {
    if (kind.name == name) return kind.stages;
    absl::StrAppend(&known, known.empty() ? "'" : ", '", kind.name, "'");
  }
  return absl::UnimplementedError(
      absl::StrCat("the pre-tokenizer '", name, "' is not known; known are ", known));
}

absl::StatusOr<std::unique_ptr<PreTokenizer>> PreTokenizer::ForName(absl::string_view name) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<absl::string_view> expressions, ExpressionsOf(name));
  std::vector<std::unique_ptr<Regex>> stages;
  for (absl::string_view expression : expressions) {
    TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<Regex> regex, Regex::Compile(expression));
    stages.push_back(std::move(regex));
  }
  return std::unique_ptr<PreTokenizer>(new PreTokenizer(std::move(stages)));
}

absl::StatusOr<std::vector<absl::string_view>> PreTokenizer::Split(absl::string_view text) const {
  std::vector<absl::string_view> words = {text};
  for (const std::unique_ptr<Regex>& stage : stages_) {
    std::vector<absl::string_view> finer;
    for (absl::string_view word : words) TRENCADIS_RETURN_IF_ERROR(Cut(*stage, word, finer));
    words = std::move(finer);
  }
  return words;
}

}  // namespace trencadis::tokenizers
