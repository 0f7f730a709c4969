// Reading JSON files whose top level is an object, with errors that name the file.
#ifndef TRENCADIS_MODELS_CHECKPOINT_JSON_TEXT_H_
#define TRENCADIS_MODELS_CHECKPOINT_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::checkpoint {

// Refuses (InvalidArgument) text that is not one JSON object, nested deeper than 64 levels, or
// larger than 64 MB; a byte order mark is skipped. Of equal keys the last counts, as in Python.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text);
// The same for a file; errors begin with its path.
absl::StatusOr<nlohmann::json> ReadJsonObject(const std::string& path);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_JSON_TEXT_H_
