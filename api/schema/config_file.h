// A tool's configuration from a JSON file.
#ifndef TRENCADIS_API_SCHEMA_CONFIG_FILE_H_
#define TRENCADIS_API_SCHEMA_CONFIG_FILE_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace trencadis::schema {

// Reads the file at `path` into `message`, the message of a tool: nested as MessageToJson writes
// it, or flat as HfArgumentParser reads it. NOT_FOUND if it cannot be read, INVALID_ARGUMENT if it
// is not such JSON or larger than 4 MiB; the error starts with the path.
absl::Status ReadConfigFile(const std::string& path, google::protobuf::Message* message);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_CONFIG_FILE_H_
