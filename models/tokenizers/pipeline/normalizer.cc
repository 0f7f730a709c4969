#include "models/tokenizers/pipeline/normalizer.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "models/tokenizers/pipeline/character_category.h"
#include "models/tokenizers/pipeline/precompiled.h"
#include "models/tokenizers/pipeline/text_pattern.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using checkpoint::JsonFields;
using Json = nlohmann::json;

std::string ToUtf8(const icu::UnicodeString& units) {
  std::string text;
  units.toUTF8String(text);
  return text;
}

// Passes the characters of `text` to `visit`.
void ForEachCharacter(const std::string& text, const std::function<void(UChar32)>& visit) {
  const icu::UnicodeString units = icu::UnicodeString::fromUTF8(text);
  for (int32_t i = 0; i < units.length(); i = units.moveIndex32(i, 1)) visit(units.char32At(i));
}

// A rewriting that cannot fail.
class TextFunction : public Normalizer {
 public:
  explicit TextFunction(std::function<std::string(const std::string&)> function)
      : function_(std::move(function)) {}
  absl::StatusOr<std::string> Apply(std::string text) const override { return function_(text); }

 private:
  std::function<std::string(const std::string&)> function_;
};

std::unique_ptr<Normalizer> Of(std::function<std::string(const std::string&)> function) {
  return std::make_unique<TextFunction>(std::move(function));
}

using GetNormalizer2 = const icu::Normalizer2* (*)(UErrorCode&);

std::string UnicodeForm(GetNormalizer2 get, const std::string& text) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* form = get(code);
  const icu::UnicodeString normalized = form->normalize(icu::UnicodeString::fromUTF8(text), code);
  TRENCADIS_CHECK(U_SUCCESS(code));  // ICU's own data is missing otherwise.
  return ToUtf8(normalized);
}

std::string WithoutCategories(const std::string& text, uint32_t categories, int unicode_version) {
  icu::UnicodeString kept;
  ForEachCharacter(text, [&](UChar32 c) {
    if ((CategoryMask(c, unicode_version) & categories) == 0) kept.append(c);
  });
  return ToUtf8(kept);
}

// Character by character, so that no character's context matters (a final sigma stays a sigma).
std::string Lowercase(const std::string& text) {
  icu::UnicodeString lower;
  ForEachCharacter(text, [&](UChar32 c) {
    lower.append(icu::UnicodeString(c).toLower(icu::Locale::getRoot()));
  });
  return ToUtf8(lower);
}

// The ranges that BERT takes for Chinese characters (BasicTokenizer._is_chinese_char).
bool IsChinese(UChar32 c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

constexpr int kBertUnicode = 8;
// What the tokenizers library drops as control characters: unassigned ones stay.
constexpr uint32_t kOther = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CS_MASK | U_GC_CO_MASK;

struct BertSettings {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

std::string CleanBertText(const std::string& text, const BertSettings& settings) {
  icu::UnicodeString cleaned;
  ForEachCharacter(text, [&](UChar32 c) {
    const bool space = u_isUWhiteSpace(c);
    const bool dropped =
        c == 0 || c == 0xfffd ||
        (c != '\t' && c != '\n' && c != '\r' && (CategoryMask(c, kBertUnicode) & kOther));
    if (settings.clean_text && dropped) return;
    const bool chinese = settings.handle_chinese_chars && IsChinese(c);
    if (chinese) cleaned.append(u' ');
    cleaned.append(settings.clean_text && space ? UChar32{' '} : c);
    if (chinese) cleaned.append(u' ');
  });
  return ToUtf8(cleaned);
}

std::string NormalizeForBert(const std::string& text, const BertSettings& settings) {
  std::string result = CleanBertText(text, settings);
  if (settings.strip_accents) {
    result = WithoutCategories(UnicodeForm(icu::Normalizer2::getNFDInstance, result), U_GC_MN_MASK,
                               kBertUnicode);
  }
  return settings.lowercase ? Lowercase(result) : result;
}

class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(TextPattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  absl::StatusOr<std::string> Apply(std::string text) const override {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<ByteRange> matches, pattern_.FindAll(text));
    std::string replaced;
    size_t at = 0;
    for (const ByteRange& match : matches) {
      replaced.append(text, at, match.begin - at).append(content_);
      at = match.end;
    }
    return replaced.append(text, at, std::string::npos);
  }

 private:
  TextPattern pattern_;
  std::string content_;
};

class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<Normalizer>> steps)
      : steps_(std::move(steps)) {}

  absl::StatusOr<std::string> Apply(std::string text) const override {
    for (const auto& step : steps_) {
      TRENCADIS_ASSIGN_OR_RETURN(text, step->Apply(std::move(text)));
    }
    return text;
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

absl::StatusOr<std::unique_ptr<Normalizer>> ParseBert(JsonFields& fields) {
  BertSettings settings;
  fields.Bool("clean_text", settings.clean_text);
  fields.Bool("handle_chinese_chars", settings.handle_chinese_chars);
  fields.Bool("lowercase", settings.lowercase);
  settings.strip_accents = settings.lowercase;  // where the file leaves it open
  fields.Bool("strip_accents", settings.strip_accents);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  return Of([settings](const std::string& text) { return NormalizeForBert(text, settings); });
}

absl::StatusOr<std::unique_ptr<Normalizer>> ParseStrip(JsonFields& fields) {
  bool left = true, right = true;
  fields.Bool("strip_left", left);
  fields.Bool("strip_right", right);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  return Of([left, right](const std::string& text) {
    absl::string_view rest = text;
    if (left) rest = StripLeadingSpace(rest);
    if (right) rest = StripTrailingSpace(rest);
    return std::string(rest);
  });
}

absl::StatusOr<std::unique_ptr<Normalizer>> ParsePrepend(JsonFields& fields) {
  std::string prefix;
  fields.String("prepend", prefix);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  return Of([prefix](const std::string& text) { return text.empty() ? text : prefix + text; });
}

absl::StatusOr<std::unique_ptr<Normalizer>> ParseReplace(JsonFields& fields) {
  std::string content;
  fields.String("content", content);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  TRENCADIS_ASSIGN_OR_RETURN(TextPattern pattern, TextPattern::Parse(fields.Take("pattern")));
  return std::make_unique<ReplaceNormalizer>(std::move(pattern), std::move(content));
}

absl::StatusOr<std::unique_ptr<Normalizer>> ParseSequence(JsonFields& fields) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (const Json& step : fields.Take("normalizers")) {
    TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<Normalizer> parsed, ParseNormalizer(step));
    if (parsed != nullptr) steps.push_back(std::move(parsed));
  }
  return std::make_unique<NormalizerSequence>(std::move(steps));
}

absl::StatusOr<std::unique_ptr<Normalizer>> ParsePrecompiled(JsonFields& fields) {
  std::string base64, bytes;
  fields.String("precompiled_charsmap", base64);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (!absl::Base64Unescape(base64, &bytes)) {
    return absl::InvalidArgumentError("\"precompiled_charsmap\" is not base64");
  }
  TRENCADIS_ASSIGN_OR_RETURN(PrecompiledMap map, PrecompiledMap::Parse(bytes));
  return Of([map = std::move(map)](const std::string& text) { return map.Normalize(text); });
}

GetNormalizer2 FindUnicodeForm(absl::string_view type) {
  if (type == "NFC") return icu::Normalizer2::getNFCInstance;
  if (type == "NFD") return icu::Normalizer2::getNFDInstance;
  if (type == "NFKC") return icu::Normalizer2::getNFKCInstance;
  if (type == "NFKD") return icu::Normalizer2::getNFKDInstance;
  return nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Normalizer>> ParseNormalizer(const Json& json) {
  if (json.is_null()) return nullptr;
  if (!json.is_object()) return absl::InvalidArgumentError("a normalizer is not an object");
  JsonFields fields(json);
  std::string type;
  fields.String("type", type);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (const GetNormalizer2 form = FindUnicodeForm(type)) {
    return Of([form](const std::string& text) { return UnicodeForm(form, text); });
  }
  if (type == "Lowercase") return Of(Lowercase);
  if (type == "StripAccents") {
    return Of([](const std::string& text) { return WithoutCategories(text, U_GC_M_MASK, 9); });
  }
  if (type == "BertNormalizer") return ParseBert(fields);
  if (type == "Strip") return ParseStrip(fields);
  if (type == "Prepend") return ParsePrepend(fields);
  if (type == "Replace") return ParseReplace(fields);
  if (type == "Precompiled") return ParsePrecompiled(fields);
  if (type == "Sequence") return ParseSequence(fields);
  return absl::UnimplementedError(absl::StrCat("the normalizer '", type, "' is not known"));
}

}  // namespace trencadis::tokenizers::pipeline
