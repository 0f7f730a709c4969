#include "training/data/records.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::training {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kForms =
    "wanted an object with text, with prompt and completion, or with instruction and output";

// The string member `key` of a record, or `fallback` when it is absent or null.
absl::StatusOr<std::string> Member(const Json& object, const std::string& key,
                                   const char* fallback) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) {
    if (fallback != nullptr) return std::string(fallback);
    return absl::InvalidArgumentError(absl::StrCat("it has no '", key, "'"));
  }
  if (!it->is_string()) {
    return absl::InvalidArgumentError(
        absl::StrCat("its '", key, "' is a ", it->type_name(), "; wanted a string"));
  }
  return it->get<std::string>();
}

absl::StatusOr<Record> ToRecord(const Json& object, const RecordColumns& columns) {
  if (!object.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("it is a ", object.type_name(), "; ", kForms));
  }
  Record record;
  if (object.contains("instruction") || columns != RecordColumns{}) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::string instruction,
                               Member(object, columns.instruction, nullptr));
    TRENCADIS_ASSIGN_OR_RETURN(const std::string input, Member(object, columns.input, ""));
    TRENCADIS_ASSIGN_OR_RETURN(record.completion, Member(object, columns.output, nullptr));
    record.prompt = AlpacaPrompt(instruction, input);
  } else if (object.contains("prompt")) {
    TRENCADIS_ASSIGN_OR_RETURN(record.prompt, Member(object, "prompt", nullptr));
    TRENCADIS_ASSIGN_OR_RETURN(record.completion, Member(object, "completion", nullptr));
  } else if (object.contains("text")) {
    TRENCADIS_ASSIGN_OR_RETURN(record.completion, Member(object, "text", nullptr));
  } else {
    return absl::InvalidArgumentError(std::string(kForms));
  }
  return record;
}

// nlohmann's recursive parser would follow any depth; records need little.
absl::StatusOr<Json> ParseJson(absl::string_view text) {
  constexpr int kMaxDepth = 64;
  bool too_deep = false;
  const auto watch_depth = [&](int depth, Json::parse_event_t, Json&) {
    too_deep |= depth > kMaxDepth;
    return !too_deep;
  };
  Json json = Json::parse(text, watch_depth, /*allow_exceptions=*/false);
  if (too_deep) return absl::InvalidArgumentError("it is nested too deeply");
  if (json.is_discarded()) return absl::InvalidArgumentError("it is not valid JSON");
  return json;
}

absl::Status AppendJsonLines(const std::string& text, const RecordColumns& columns,
                             std::vector<Record>& records) {
  int64_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const std::string where = absl::StrCat("line ", line_number);
    const absl::StatusOr<Json> json = ParseJson(line);
    if (!json.ok()) return Annotate(json.status(), where);
    absl::StatusOr<Record> record = ToRecord(*json, columns);
    if (!record.ok()) return Annotate(record.status(), where);
    records.push_back(*std::move(record));
  }
  return absl::OkStatus();
}

absl::Status AppendJsonArray(const std::string& text, const RecordColumns& columns,
                             std::vector<Record>& records) {
  TRENCADIS_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  if (!json.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("it holds a JSON ", json.type_name(),
                     "; wanted an array of records (or one record per line in a .jsonl file)"));
  }
  for (size_t i = 0; i < json.size(); ++i) {
    absl::StatusOr<Record> record = ToRecord(json[i], columns);
    if (!record.ok()) return Annotate(record.status(), absl::StrCat("record ", i));
    records.push_back(*std::move(record));
  }
  return absl::OkStatus();
}

void AppendLines(const std::string& text, bool keep_line_breaks, std::vector<Record>& records) {
  size_t start = 0;
  while (start < text.size()) {
    const size_t newline = text.find('\n', start);
    const bool ended = newline != std::string::npos;
    const size_t end = ended ? newline : text.size();
    const size_t kept_end = ended && keep_line_breaks ? end + 1 : end;
    records.push_back({"", text.substr(start, kept_end - start)});
    start = ended ? newline + 1 : text.size();
  }
}

// Files named .json sometimes hold one record per line.
bool LooksLikeLines(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

absl::Status AppendFile(const std::string& path, bool keep_line_breaks,
                        const RecordColumns& columns, std::vector<Record>& records) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().ReadFile(path));
  const bool is_json = absl::EndsWithIgnoreCase(path, ".json");
  if (absl::EndsWithIgnoreCase(path, ".jsonl") || (is_json && LooksLikeLines(text))) {
    return AppendJsonLines(text, columns, records);
  }
  if (is_json) return AppendJsonArray(text, columns, records);
  if (absl::EndsWithIgnoreCase(path, ".txt")) {
    AppendLines(text, keep_line_breaks, records);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("wanted a file named .txt, .json or .jsonl");
}

}  // namespace

std::string AlpacaPrompt(absl::string_view instruction, absl::string_view input) {
  if (input.empty()) {
    return absl::StrCat(
        "Below is an instruction that describes a task. Write a response that appropriately "
        "completes the request.\n\n### Instruction:\n",
        instruction, "\n\n### Response:");
  }
  return absl::StrCat(
      "Below is an instruction that describes a task, paired with an input that provides further "
      "context. Write a response that appropriately completes the request.\n\n### Instruction:\n",
      instruction, "\n\n### Input:\n", input, "\n\n### Response:");
}

absl::StatusOr<std::vector<Record>> ReadRecords(const std::vector<std::string>& paths,
                                                bool keep_line_breaks,
                                                const RecordColumns& columns) {
  std::vector<Record> records;
  for (const std::string& path : paths) {
    TRENCADIS_RETURN_IF_ERROR(Annotate(AppendFile(path, keep_line_breaks, columns, records), path));
  }
  return records;
}

}  // namespace trencadis::training
