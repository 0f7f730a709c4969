#include "api/schema/json_write.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/schema/defaults.h"
#include "api/schema/spec.h"
#include "api/schema/value_text.h"

namespace trencadis::schema {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::ordered_json;

ordered_json Value(const FieldDescriptor* field, const std::string& text) {
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) return text;
  // Numbers and booleans are written the same way in both notations.
  return ordered_json::parse(text);
}

ordered_json Object(const Message& message) {
  ordered_json object = ordered_json::object();
  const google::protobuf::Descriptor* descriptor = message.GetDescriptor();
  const Reflection* reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (!IsOption(field)) {
      if (!reflection->HasField(message, field)) continue;
      ordered_json inner = Object(reflection->GetMessage(message, field));
      // A chosen member of a oneof is told by its presence.
      if (!inner.empty() || field->real_containing_oneof() != nullptr) {
        object[field->name()] = std::move(inner);
      }
      continue;
    }
    const std::vector<std::string> values = ValuesAsText(message, field);
    if (values.empty()) continue;
    if (field->is_repeated()) {
      ordered_json& list = object[field->name()] = ordered_json::array();
      for (const std::string& value : values) list.push_back(Value(field, value));
    } else {
      object[field->name()] = Value(field, values[0]);
    }
  }
  return object;
}

}  // namespace

std::string MessageToJson(const Message& message, const JsonWriteOptions& options) {
  const int indent = options.indent > 0 ? options.indent : -1;
  const auto on_bad_text = ordered_json::error_handler_t::replace;
  if (!options.defaults) return Object(message).dump(indent, ' ', false, on_bad_text);
  const std::unique_ptr<Message> resolved(message.New());
  resolved->CopyFrom(message);
  ApplyDefaults(resolved.get());
  return Object(*resolved).dump(indent, ' ', false, on_bad_text);
}

}  // namespace trencadis::schema
