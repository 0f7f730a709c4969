// The annotations of options.proto as one tool sees them.
//
// A sub-message such as DataOptions is shared by several tools, and the field by which a tool
// includes it may change or remove some of its options. `via` is that field; null for the options
// of a message that is used by itself. All functions are pure and safe to call from any thread.
#ifndef TRENCADIS_API_SCHEMA_SPEC_H_
#define TRENCADIS_API_SCHEMA_SPEC_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "api/schema/options.pb.h"

namespace trencadis::schema {

// Whether `field` is an option (a scalar or a list of scalars) rather than a group of options.
bool IsOption(const google::protobuf::FieldDescriptor* field);

// Whether the tool that includes the message of `field` through `via` does not know it.
bool IsAbsent(const google::protobuf::FieldDescriptor* via,
              const google::protobuf::FieldDescriptor* field);

// The spec of `field` with the changes of `via` merged over it. `group` is always set: to the
// message's title where the field names none.
OptionSpec SpecOf(const google::protobuf::FieldDescriptor* via,
                  const google::protobuf::FieldDescriptor* field);

// "an integer of at least 1", "one of linear, cosine", "true or false": what a value may be.
std::string Wanted(const google::protobuf::FieldDescriptor* field, const OptionSpec& spec);

// The bounds alone, as in "at least 0, at most 1"; empty where there are none.
std::string BoundsText(const OptionSpec& spec);

// The values of a choice that are honoured.
std::vector<std::string> HonouredChoices(const OptionSpec& spec);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_SPEC_H_
