// Messages as JSON Schema (draft 2020-12, as OpenAPI 3.1 uses it), by reflection.
#ifndef TRENCADIS_API_SCHEMA_JSON_SCHEMA_H_
#define TRENCADIS_API_SCHEMA_JSON_SCHEMA_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace trencadis::schema {

// The `components.schemas` object of an OpenAPI document as JSON text: `messages` and all that
// they refer to, by name. A message that a tool changes gets a schema of its own ("RunClmData").
// What the schemas accept is what JsonToMessage and the checks of single options accept; rules
// that join options cannot be told here.
std::string JsonSchemas(const std::vector<const google::protobuf::Descriptor*>& messages);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_JSON_SCHEMA_H_
