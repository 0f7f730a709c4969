// Strict JSON to a message.
//
// Refused, each with the JSON path of the place: an unknown member, one that the tool does not
// have, a member given twice, a value of another type ("7" is no number, 7.5 no integer), a number
// that does not fit, a null where the option has a default, a text with NUL, two members of a
// oneof, and whatever RFC 8259 refuses (NaN, comments, trailing commas, bad UTF-8), with its line
// and column. Depth is bounded by the schema: what is nested deeper has a wrong type at its first
// bracket. Reading keeps no tree of the input.
#ifndef TRENCADIS_API_SCHEMA_JSON_READ_H_
#define TRENCADIS_API_SCHEMA_JSON_READ_H_

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis::schema {

struct JsonReadOptions {
  // Also take a tool's options as direct members of the outermost object, by name or alias without
  // dashes, as the JSON files of HfArgumentParser have them.
  bool flat = false;
};

// Reads `json` into `message`, which keeps what it holds for members that are not in `json`; a
// list replaces the one it holds. On error `message` is partly changed. INVALID_ARGUMENT as above.
absl::Status JsonToMessage(absl::string_view json, google::protobuf::Message* message,
                           const JsonReadOptions& options = {});

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_JSON_READ_H_
