#include "models/checkpoint/json_text.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

constexpr size_t kMaxBytes = 64 << 20;
constexpr int kMaxDepth = 64;

}  // namespace

absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON text of ", text.size(), " bytes; at most ", kMaxBytes, " are read"));
  }
  if (text.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError("not JSON: it holds a NUL byte");
  }
  bool too_deep = false;
  // Discarding every value below the limit keeps the memory bounded while the text is read on.
  const auto limit_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  nlohmann::json value;
  try {
    value = nlohmann::json::parse(text.begin(), text.end(), limit_depth);
  } catch (const nlohmann::json::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", e.what()));
  }
  if (too_deep) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON nested deeper than ", kMaxDepth, " levels"));
  }
  if (!value.is_object()) return absl::InvalidArgumentError("not a JSON object");
  return value;
}

absl::StatusOr<nlohmann::json> ReadJsonObject(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  absl::StatusOr<nlohmann::json> value = ParseJsonObject(file.text());
  if (!value.ok()) return Annotate(value.status(), path);
  return value;
}

}  // namespace trencadis::checkpoint
