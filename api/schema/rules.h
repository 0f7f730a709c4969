// Rules that join several options of a tool. A rule speaks of options by name and applies to every
// tool that has them, so that a new tool gets the rules with the messages it includes.
#ifndef TRENCADIS_API_SCHEMA_RULES_H_
#define TRENCADIS_API_SCHEMA_RULES_H_

#include <google/protobuf/message.h>

#include <vector>

#include "api/schema/violation.h"

namespace trencadis::schema {

// The rules that `tool`, a tool's message as it was read, breaks, with paths from its own root.
std::vector<Violation> BrokenRules(const google::protobuf::Message& tool);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_RULES_H_
