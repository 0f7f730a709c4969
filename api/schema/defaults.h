// Defaults and presence. A message as it is read holds only what was given; the resolved message
// also holds every default. An option without a default (Python's None) stays unset in both.
#ifndef TRENCADIS_API_SCHEMA_DEFAULTS_H_
#define TRENCADIS_API_SCHEMA_DEFAULTS_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "api/schema/options.pb.h"

namespace trencadis::schema {

// Sets every unset option of `message` that has a default, in sub-messages too. Of a oneof only
// the member that is set is filled. Aborts if a default in a .proto file is not of its field's
// type, which a test excludes for every tool.
void ApplyDefaults(google::protobuf::Message* message);

// A copy with defaults.
template <typename M>
M Resolved(const M& message) {
  M copy = message;
  ApplyDefaults(&copy);
  return copy;
}

// Whether the value of `field` in `message` is the default of `spec`. An unset field is; a list or
// an option without a default is not, once it has a value.
bool IsDefault(const google::protobuf::Message& message,
               const google::protobuf::FieldDescriptor* field, const OptionSpec& spec);

// Names of the options that are set in `message`, in order of declaration. On a message as it was
// read: what the user gave.
std::vector<std::string> GivenOptions(const google::protobuf::Message& message);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_DEFAULTS_H_
