#include "models/tokenizers/pipeline/decoder.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "models/checkpoint/json_fields.h"
#include "models/tokenizers/byte_level.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using checkpoint::JsonFields;
using Json = nlohmann::json;
using Tokens = std::vector<std::string>;

class DecodeFunction : public Decoder {
 public:
  explicit DecodeFunction(std::function<Tokens(Tokens)> function)
      : function_(std::move(function)) {}
  Tokens Apply(Tokens tokens) const override { return function_(std::move(tokens)); }

 private:
  std::function<Tokens(Tokens)> function_;
};

std::unique_ptr<Decoder> Of(std::function<Tokens(Tokens)> function) {
  return std::make_unique<DecodeFunction>(std::move(function));
}

Tokens DecodeByteLevel(Tokens tokens) {
  std::string bytes;
  for (const std::string& token : tokens) bytes += FromByteLevel(token).value_or(token);
  return {ReplaceMalformed(bytes)};
}

// Runs of "<0x41>" become the characters that their bytes form, or as many U+FFFD as bytes.
Tokens DecodeByteFallback(Tokens tokens) {
  Tokens decoded;
  std::string run;
  const auto end_run = [&] {
    if (run.empty()) return;
    if (CheckUtf8(run).ok()) {
      decoded.push_back(run);
    } else {
      for (size_t i = 0; i < run.size(); ++i) decoded.emplace_back(kReplacementCharacter);
    }
    run.clear();
  };
  for (std::string& token : tokens) {
    uint32_t byte = 0;
    const bool is_byte = token.size() == 6 && absl::StartsWith(token, "<0x") &&
                         token.back() == '>' && absl::SimpleHexAtoi(token.substr(3, 2), &byte);
    if (is_byte) {
      run += static_cast<char>(byte);
    } else {
      end_run();
      decoded.push_back(std::move(token));
    }
  }
  end_run();
  return decoded;
}

Tokens DecodeMetaspace(Tokens tokens, const std::string& symbol, bool drop_first) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const absl::string_view space = i == 0 && drop_first ? "" : " ";
    tokens[i] = absl::StrReplaceAll(tokens[i], {{symbol, space}});
  }
  return tokens;
}

Tokens DecodeWordPiece(Tokens tokens, const std::string& prefix, bool clean_up) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      const bool continues = absl::StartsWith(tokens[i], prefix);
      tokens[i] = continues ? tokens[i].substr(prefix.size()) : absl::StrCat(" ", tokens[i]);
    }
    if (clean_up) tokens[i] = CleanUpSpaces(std::move(tokens[i]));
  }
  return tokens;
}

Tokens DecodeBpeSuffix(Tokens tokens, const std::string& suffix) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const absl::string_view space = i + 1 == tokens.size() ? "" : " ";
    tokens[i] = absl::StrReplaceAll(tokens[i], {{suffix, space}});
  }
  return tokens;
}

// Takes up to `start` copies of `content` off the front of each token and `stop` off its end.
Tokens StripTokens(Tokens tokens, const std::string& content, int64_t start, int64_t stop) {
  for (std::string& token : tokens) {
    absl::string_view rest = token;
    for (int64_t i = 0; i < start && absl::ConsumePrefix(&rest, content); ++i) continue;
    for (int64_t i = 0; i < stop && absl::ConsumeSuffix(&rest, content); ++i) continue;
    token = std::string(rest);
  }
  return tokens;
}

absl::StatusOr<std::unique_ptr<Decoder>> ParseMetaspace(JsonFields& fields) {
  std::string symbol = "▁", scheme;
  bool add_prefix_space = true;
  fields.String("replacement", symbol);
  fields.String("prepend_scheme", scheme);
  fields.Bool("add_prefix_space", add_prefix_space);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (symbol.empty()) return absl::InvalidArgumentError("\"replacement\" is empty");
  const bool drop_first = scheme.empty() ? add_prefix_space : scheme != "never";
  return Of([symbol, drop_first](Tokens tokens) {
    return DecodeMetaspace(std::move(tokens), symbol, drop_first);
  });
}

absl::StatusOr<std::unique_ptr<Decoder>> ParseWordPiece(JsonFields& fields) {
  std::string prefix = "##";
  bool clean_up = true;
  fields.String("prefix", prefix);
  fields.Bool("cleanup", clean_up);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  return Of([prefix, clean_up](Tokens tokens) {
    return DecodeWordPiece(std::move(tokens), prefix, clean_up);
  });
}

absl::StatusOr<std::unique_ptr<Decoder>> ParseBpeSuffix(JsonFields& fields) {
  std::string suffix = "</w>";
  fields.String("suffix", suffix);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (suffix.empty()) return absl::InvalidArgumentError("\"suffix\" is empty");
  return Of([suffix](Tokens tokens) { return DecodeBpeSuffix(std::move(tokens), suffix); });
}

absl::StatusOr<std::unique_ptr<Decoder>> ParseStrip(JsonFields& fields) {
  std::string content = " ";
  int64_t start = 0, stop = 0;
  fields.String("content", content);
  fields.Int("start", start);
  fields.Int("stop", stop);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (content.empty()) return absl::InvalidArgumentError("\"content\" is empty");
  return Of([content, start, stop](Tokens tokens) {
    return StripTokens(std::move(tokens), content, start, stop);
  });
}

// Only fixed strings: an expression could fail at each token, and no published file has one here.
absl::StatusOr<std::unique_ptr<Decoder>> ParseReplace(JsonFields& fields) {
  std::string content;
  fields.String("content", content);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  const Json pattern = fields.Take("pattern");
  JsonFields pattern_fields(pattern.is_object() ? pattern : Json::object());
  std::string text;
  pattern_fields.String("String", text);
  if (text.empty()) {
    return absl::UnimplementedError(absl::StrCat("the decoder 'Replace' with the pattern ",
                                                 checkpoint::ShortText(pattern),
                                                 "; only {\"String\": text} can be read"));
  }
  return Of([text, content](Tokens tokens) {
    for (std::string& token : tokens) token = absl::StrReplaceAll(token, {{text, content}});
    return tokens;
  });
}

absl::StatusOr<std::unique_ptr<Decoder>> ParseSequence(JsonFields& fields) {
  std::vector<std::shared_ptr<const Decoder>> steps;
  for (const Json& step : fields.Take("decoders")) {
    TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<Decoder> parsed, ParseDecoder(step));
    if (parsed != nullptr) steps.push_back(std::move(parsed));
  }
  return Of([steps](Tokens tokens) {
    for (const auto& step : steps) tokens = step->Apply(std::move(tokens));
    return tokens;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Decoder>> ParseDecoder(const Json& json) {
  if (json.is_null()) return nullptr;
  if (!json.is_object()) return absl::InvalidArgumentError("a decoder is not an object");
  JsonFields fields(json);
  std::string type;
  fields.String("type", type);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (type == "ByteLevel") return Of(DecodeByteLevel);
  if (type == "ByteFallback") return Of(DecodeByteFallback);
  if (type == "Fuse") return Of([](Tokens tokens) { return Tokens{absl::StrJoin(tokens, "")}; });
  if (type == "Metaspace") return ParseMetaspace(fields);
  if (type == "WordPiece") return ParseWordPiece(fields);
  if (type == "BPEDecoder") return ParseBpeSuffix(fields);
  if (type == "Strip") return ParseStrip(fields);
  if (type == "Replace") return ParseReplace(fields);
  if (type == "Sequence") return ParseSequence(fields);
  return absl::UnimplementedError(absl::StrCat("the decoder '", type, "' is not known"));
}

std::string CleanUpSpaces(std::string text) {
  // One after the other, as the original does: a later one may match what an earlier one made.
  constexpr std::pair<absl::string_view, absl::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) {
    text = absl::StrReplaceAll(text, {{from, to}});
  }
  return text;
}

}  // namespace trencadis::tokenizers::pipeline
