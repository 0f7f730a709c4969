#include "api/schema/tool_list.h"

#include "api/schema/tools.pb.h"

namespace trencadis::schema {

std::vector<const google::protobuf::Descriptor*> ToolList() {
  return {RunClm::descriptor(), RunLoraClm::descriptor(), RunGeneration::descriptor(),
          Graph::descriptor()};
}

}  // namespace trencadis::schema
