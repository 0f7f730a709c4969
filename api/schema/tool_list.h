// All tools whose configuration is a message of this schema.
#ifndef TRENCADIS_API_SCHEMA_TOOL_LIST_H_
#define TRENCADIS_API_SCHEMA_TOOL_LIST_H_

#include <google/protobuf/descriptor.h>

#include <vector>

namespace trencadis::schema {

// Their messages, in the order of the documentation.
std::vector<const google::protobuf::Descriptor*> ToolList();

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_TOOL_LIST_H_
