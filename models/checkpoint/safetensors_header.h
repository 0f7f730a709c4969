// Parses the JSON header of a safetensors file.
#ifndef TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_HEADER_H_
#define TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::checkpoint {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t begin = 0;  // bytes from the end of the header
  int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the header's order; names may repeat
  std::map<std::string, std::string> metadata;
};

// Checks the structure: known keys, types of values. Memory grows with the text only.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json_text);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_HEADER_H_
