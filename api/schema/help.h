// What -h prints, and the Markdown reference of a tool: two renderings of its catalog.
#ifndef TRENCADIS_API_SCHEMA_HELP_H_
#define TRENCADIS_API_SCHEMA_HELP_H_

#include <google/protobuf/descriptor.h>

#include <string>

#include "absl/status/statusor.h"

namespace trencadis::schema {

// Flags in groups, each with its meaning, default and range; then the flags that are accepted
// without effect, and those that are refused, each under its reason. At most 100 columns.
absl::StatusOr<std::string> HelpText(const google::protobuf::Descriptor* tool);

// The same as a Markdown page with one table per group.
absl::StatusOr<std::string> WriteReference(const google::protobuf::Descriptor* tool);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_HELP_H_
