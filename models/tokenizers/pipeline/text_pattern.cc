#include "models/tokenizers/pipeline/text_pattern.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

std::vector<ByteRange> FindCharacters(absl::string_view text,
                                      const std::function<bool(uint32_t)>& matches) {
  std::vector<ByteRange> found;
  const int32_t size = static_cast<int32_t>(text.size());
  for (int32_t at = 0; at < size;) {
    const int32_t begin = at;
    UChar32 code_point = 0;
    U8_NEXT(text.data(), at, size, code_point);
    if (code_point >= 0 && matches(static_cast<uint32_t>(code_point))) {
      found.push_back({static_cast<size_t>(begin), static_cast<size_t>(at)});
    }
  }
  return found;
}

std::vector<ByteRange> FindString(absl::string_view text, absl::string_view wanted) {
  std::vector<ByteRange> found;
  if (wanted.empty()) return found;
  for (size_t at = 0; (at = text.find(wanted, at)) != absl::string_view::npos;) {
    found.push_back({at, at + wanted.size()});
    at += wanted.size();
  }
  return found;
}

// A stretch of the text: a match or what lies between two.
struct Stretch {
  ByteRange range;
  bool is_match;
};

std::vector<Stretch> Cover(size_t size, const std::vector<ByteRange>& matches, bool invert) {
  std::vector<Stretch> stretches;
  size_t at = 0;
  for (const ByteRange& match : matches) {
    if (match.begin > at) stretches.push_back({{at, match.begin}, invert});
    stretches.push_back({match, !invert});
    at = match.end;
  }
  if (at < size) stretches.push_back({{at, size}, invert});
  return stretches;
}

// Each merge joins neighbours; `stretches` come in the text's order.
std::vector<ByteRange> MergeWithPrevious(const std::vector<Stretch>& stretches) {
  std::vector<ByteRange> pieces;
  bool after_match = false;
  for (const Stretch& stretch : stretches) {
    if (stretch.is_match && !after_match && !pieces.empty()) {
      pieces.back().end = stretch.range.end;
    } else {
      pieces.push_back(stretch.range);
    }
    after_match = stretch.is_match;
  }
  return pieces;
}

std::vector<ByteRange> MergeWithNext(const std::vector<Stretch>& stretches) {
  std::vector<ByteRange> pieces;
  bool before_match = false;
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch) {
    if (stretch->is_match && !before_match && !pieces.empty()) {
      pieces.back().begin = stretch->range.begin;
    } else {
      pieces.push_back(stretch->range);
    }
    before_match = stretch->is_match;
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

std::vector<ByteRange> MergeEqual(const std::vector<Stretch>& stretches) {
  std::vector<ByteRange> pieces;
  for (size_t i = 0; i < stretches.size(); ++i) {
    if (i > 0 && stretches[i].is_match == stretches[i - 1].is_match) {
      pieces.back().end = stretches[i].range.end;
    } else {
      pieces.push_back(stretches[i].range);
    }
  }
  return pieces;
}

std::vector<ByteRange> Pieces(const std::vector<Stretch>& stretches, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::kMergedWithPrevious:
      return MergeWithPrevious(stretches);
    case SplitBehavior::kMergedWithNext:
      return MergeWithNext(stretches);
    case SplitBehavior::kContiguous:
      return MergeEqual(stretches);
    case SplitBehavior::kRemoved:
    case SplitBehavior::kIsolated:
      break;
  }
  std::vector<ByteRange> pieces;
  for (const Stretch& stretch : stretches) {
    if (behavior == SplitBehavior::kIsolated || !stretch.is_match) pieces.push_back(stretch.range);
  }
  return pieces;
}

}  // namespace

absl::StatusOr<TextPattern> TextPattern::Parse(const nlohmann::json& json) {
  if (json.is_object() && json.size() == 1 && json.begin()->is_string()) {
    const std::string text = json.begin()->get<std::string>();
    if (json.begin().key() == "String") return OfString(text);
    if (json.begin().key() == "Regex") return OfRegex(text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the pattern ", checkpoint::ShortText(json),
                   " is neither {\"String\": text} nor {\"Regex\": text}"));
}

absl::StatusOr<TextPattern> TextPattern::OfRegex(absl::string_view expression) {
  TextPattern pattern;
  TRENCADIS_ASSIGN_OR_RETURN(pattern.regex_, Regex::Compile(expression));
  return pattern;
}

TextPattern TextPattern::OfString(std::string text) {
  TextPattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

TextPattern TextPattern::OfCharacters(std::function<bool(uint32_t)> matches) {
  TextPattern pattern;
  pattern.character_ = std::move(matches);
  return pattern;
}

absl::StatusOr<std::vector<ByteRange>> TextPattern::FindAll(absl::string_view text) const {
  if (regex_ != nullptr) return regex_->FindAll(text);
  if (character_) return FindCharacters(text, character_);
  return FindString(text, text_);
}

absl::StatusOr<SplitBehavior> ParseSplitBehavior(absl::string_view name) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return absl::InvalidArgumentError(absl::StrCat("the split behavior '", name, "' is not known"));
}

absl::StatusOr<std::vector<absl::string_view>> SplitText(absl::string_view text,
                                                         const TextPattern& pattern,
                                                         SplitBehavior behavior, bool invert) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<ByteRange> matches, pattern.FindAll(text));
  std::vector<absl::string_view> pieces;
  for (const ByteRange& piece : Pieces(Cover(text.size(), matches, invert), behavior)) {
    pieces.push_back(text.substr(piece.begin, piece.end - piece.begin));
  }
  return pieces;
}

}  // namespace trencadis::tokenizers::pipeline
