#include "models/tokenizers/pipeline/word_splitter.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "models/checkpoint/json_fields.h"
#include "models/tokenizers/byte_level.h"
#include "models/tokenizers/pipeline/character_category.h"
#include "models/tokenizers/pipeline/text_pattern.h"
#include "models/tokenizers/pre_tokenizer.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using checkpoint::JsonFields;
using Json = nlohmann::json;

bool IsSpace(uint32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)); }
bool IsNumeric(uint32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0; }
// ASCII's symbols count as punctuation too, as in BERT.
bool IsPunctuation(uint32_t c) {
  return (c < 128 && absl::ascii_ispunct(static_cast<unsigned char>(c))) ||
         (CategoryMask(static_cast<UChar32>(c), 8) & U_GC_P_MASK) != 0;
}

// Cuts each word at a pattern.
class PatternSplitter : public WordSplitter {
 public:
  PatternSplitter(TextPattern pattern, SplitBehavior behavior, bool invert = false)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  absl::StatusOr<std::vector<Word>> Apply(std::vector<Word> words) const override {
    std::vector<Word> finer;
    for (const Word& word : words) {
      TRENCADIS_ASSIGN_OR_RETURN(const std::vector<absl::string_view> pieces,
                                 SplitText(word.text, pattern_, behavior_, invert_));
      for (absl::string_view piece : pieces) {
        finer.push_back({std::string(piece), word.at_start && piece.data() == word.text.data()});
      }
    }
    return finer;
  }

 private:
  TextPattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class SplitterSequence : public WordSplitter {
 public:
  explicit SplitterSequence(std::vector<std::unique_ptr<WordSplitter>> steps)
      : steps_(std::move(steps)) {}

  absl::StatusOr<std::vector<Word>> Apply(std::vector<Word> words) const override {
    for (const auto& step : steps_) {
      TRENCADIS_ASSIGN_OR_RETURN(words, step->Apply(std::move(words)));
    }
    return words;
  }

 private:
  std::vector<std::unique_ptr<WordSplitter>> steps_;
};

class ByteLevelSplitter : public WordSplitter {
 public:
  // `words_of` cuts into GPT-2's words; nullptr leaves words whole.
  ByteLevelSplitter(bool add_prefix_space, std::unique_ptr<WordSplitter> words_of)
      : add_prefix_space_(add_prefix_space), words_of_(std::move(words_of)) {}

  absl::StatusOr<std::vector<Word>> Apply(std::vector<Word> words) const override {
    for (Word& word : words) {
      if (add_prefix_space_ && !absl::StartsWith(word.text, " ")) word.text.insert(0, " ");
    }
    if (words_of_ != nullptr) {
      TRENCADIS_ASSIGN_OR_RETURN(words, words_of_->Apply(std::move(words)));
    }
    for (Word& word : words) word.text = ToByteLevel(word.text);
    return words;
  }

 private:
  bool add_prefix_space_;
  std::unique_ptr<WordSplitter> words_of_;
};

class MetaspaceSplitter : public WordSplitter {
 public:
  enum class Prepend { kAlways, kFirst, kNever };

  MetaspaceSplitter(std::string symbol, Prepend prepend, bool split)
      : symbol_(std::move(symbol)),
        prepend_(prepend),
        split_(split),
        at_symbols_(TextPattern::OfString(symbol_), SplitBehavior::kMergedWithNext) {}

  absl::StatusOr<std::vector<Word>> Apply(std::vector<Word> words) const override {
    for (Word& word : words) {
      word.text = absl::StrReplaceAll(word.text, {{" ", symbol_}});
      const bool wanted =
          prepend_ == Prepend::kAlways || (prepend_ == Prepend::kFirst && word.at_start);
      if (wanted && !absl::StartsWith(word.text, symbol_)) word.text.insert(0, symbol_);
    }
    if (!split_) return words;
    return at_symbols_.Apply(std::move(words));
  }

 private:
  std::string symbol_;
  Prepend prepend_;
  bool split_;
  PatternSplitter at_symbols_;
};

std::unique_ptr<WordSplitter> AtCharacters(bool (*matches)(uint32_t), SplitBehavior behavior) {
  return std::make_unique<PatternSplitter>(TextPattern::OfCharacters(matches), behavior);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> AtRegex(absl::string_view expression,
                                                      SplitBehavior behavior, bool invert) {
  TRENCADIS_ASSIGN_OR_RETURN(TextPattern pattern, TextPattern::OfRegex(expression));
  return std::make_unique<PatternSplitter>(std::move(pattern), behavior, invert);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseByteLevel(JsonFields& fields) {
  bool add_prefix_space = true, use_regex = true;
  fields.Bool("add_prefix_space", add_prefix_space);
  fields.Bool("use_regex", use_regex);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  std::unique_ptr<WordSplitter> words_of;
  if (use_regex) {
    TRENCADIS_ASSIGN_OR_RETURN(words_of, AtRegex(kGpt2Words, SplitBehavior::kIsolated, false));
  }
  return std::make_unique<ByteLevelSplitter>(add_prefix_space, std::move(words_of));
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseMetaspace(JsonFields& fields) {
  using Prepend = MetaspaceSplitter::Prepend;
  std::string symbol = "▁", scheme;
  bool add_prefix_space = true, split = true;
  fields.String("replacement", symbol);
  fields.String("prepend_scheme", scheme);
  fields.Bool("add_prefix_space", add_prefix_space);  // the name before prepend_scheme
  fields.Bool("split", split);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  const Prepend prepend = scheme == "first" ? Prepend::kFirst
                          : scheme == "never" || (scheme.empty() && !add_prefix_space)
                              ? Prepend::kNever
                              : Prepend::kAlways;
  return std::make_unique<MetaspaceSplitter>(std::move(symbol), prepend, split);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseSplit(JsonFields& fields) {
  std::string behavior_name = "Isolated";
  bool invert = false;
  fields.String("behavior", behavior_name);
  fields.Bool("invert", invert);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  TRENCADIS_ASSIGN_OR_RETURN(const SplitBehavior behavior, ParseSplitBehavior(behavior_name));
  TRENCADIS_ASSIGN_OR_RETURN(TextPattern pattern, TextPattern::Parse(fields.Take("pattern")));
  return std::make_unique<PatternSplitter>(std::move(pattern), behavior, invert);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseDigits(JsonFields& fields) {
  bool individual = false;
  fields.Bool("individual_digits", individual);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  return AtCharacters(IsNumeric,
                      individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParsePunctuation(JsonFields& fields) {
  std::string behavior_name = "Isolated";
  fields.String("behavior", behavior_name);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  TRENCADIS_ASSIGN_OR_RETURN(const SplitBehavior behavior, ParseSplitBehavior(behavior_name));
  return AtCharacters(IsPunctuation, behavior);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseDelimiter(JsonFields& fields) {
  std::string delimiter;
  fields.String("delimiter", delimiter);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  return std::make_unique<PatternSplitter>(TextPattern::OfString(std::move(delimiter)),
                                           SplitBehavior::kRemoved);
}

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseSequence(JsonFields& fields) {
  std::vector<std::unique_ptr<WordSplitter>> steps;
  for (const Json& step : fields.Take("pretokenizers")) {
    TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<WordSplitter> parsed, ParseWordSplitter(step));
    if (parsed != nullptr) steps.push_back(std::move(parsed));
  }
  return std::make_unique<SplitterSequence>(std::move(steps));
}

std::unique_ptr<WordSplitter> BertSplitter() {
  std::vector<std::unique_ptr<WordSplitter>> steps;
  steps.push_back(AtCharacters(IsSpace, SplitBehavior::kRemoved));
  steps.push_back(AtCharacters(IsPunctuation, SplitBehavior::kIsolated));
  return std::make_unique<SplitterSequence>(std::move(steps));
}

}  // namespace

absl::StatusOr<std::unique_ptr<WordSplitter>> ParseWordSplitter(const Json& json) {
  if (json.is_null()) return nullptr;
  if (!json.is_object()) return absl::InvalidArgumentError("a pre-tokenizer is not an object");
  JsonFields fields(json);
  std::string type;
  fields.String("type", type);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (type == "ByteLevel") return ParseByteLevel(fields);
  if (type == "Metaspace") return ParseMetaspace(fields);
  if (type == "Split") return ParseSplit(fields);
  if (type == "Digits") return ParseDigits(fields);
  if (type == "Punctuation") return ParsePunctuation(fields);
  if (type == "CharDelimiterSplit") return ParseDelimiter(fields);
  if (type == "Whitespace") return AtRegex(R"(\w+|[^\w\s]+)", SplitBehavior::kRemoved, true);
  if (type == "WhitespaceSplit") return AtCharacters(IsSpace, SplitBehavior::kRemoved);
  if (type == "BertPreTokenizer") return BertSplitter();
  if (type == "Sequence") return ParseSequence(fields);
  return absl::UnimplementedError(absl::StrCat("the pre-tokenizer '", type, "' is not known"));
}

}  // namespace trencadis::tokenizers::pipeline
