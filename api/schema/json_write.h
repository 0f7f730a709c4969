// A message as JSON: members in order of declaration, numbers in their shortest exact form.
#ifndef TRENCADIS_API_SCHEMA_JSON_WRITE_H_
#define TRENCADIS_API_SCHEMA_JSON_WRITE_H_

#include <google/protobuf/message.h>

#include <string>

namespace trencadis::schema {

struct JsonWriteOptions {
  // Also options that are not set but have a default, with it.
  bool defaults = false;
  // Spaces per level; 0 writes one line.
  int indent = 2;
};

// JsonToMessage of the result is `message` again (with `defaults`: its resolved form). Messages
// without any member are left out, except the outermost.
std::string MessageToJson(const google::protobuf::Message& message,
                          const JsonWriteOptions& options = {});

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_JSON_WRITE_H_
