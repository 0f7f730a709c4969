// What a configuration must satisfy beyond types: ranges, choices, required options, options that
// are known but refused, and rules that join several options.
//
// All functions take a message as it was read, without defaults applied.
#ifndef TRENCADIS_API_SCHEMA_VALIDATE_H_
#define TRENCADIS_API_SCHEMA_VALIDATE_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/schema/violation.h"

namespace trencadis::schema {

// "--learning_rate ($.training.learning_rate): got -1, wanted a number at least 0".
std::string ToString(const Violation& violation);

// All violations: first those of single options in order of declaration, then those of rules.
std::vector<Violation> FindViolations(const google::protobuf::Message& message);

// OK, or INVALID_ARGUMENT with every violation on a line of its own.
absl::Status Validate(const google::protobuf::Message& message);

// One line per option that was given another value than its default and has no effect here.
std::vector<std::string> Warnings(const google::protobuf::Message& message);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_VALIDATE_H_
