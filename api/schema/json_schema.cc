#include "api/schema/json_schema.h"

#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/schema/spec.h"
#include "api/schema/value_text.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::ordered_json;

// The default as JSON, in its canonical form.
ordered_json DefaultValue(const FieldDescriptor* field, const OptionSpec& spec) {
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<Message> holder(factory.GetPrototype(field->containing_type())->New());
  TRENCADIS_CHECK(SetFromText(holder.get(), field, spec.default_value()).ok());
  const std::string text = ValuesAsText(*holder, field)[0];
  return field->cpp_type() == FieldDescriptor::CPPTYPE_STRING ? ordered_json(text)
                                                              : ordered_json::parse(text);
}

const char* TypeName(const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "boolean";
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return "integer";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "number";
    default:
      return "string";
  }
}

// One value, without regard to null and lists.
ordered_json ValueSchema(const FieldDescriptor* field, const OptionSpec& spec) {
  ordered_json schema = {{"type", TypeName(field)}};
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) schema["format"] = "int32";
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) schema["format"] = "int64";
  const bool integer = TypeName(field) == std::string("integer");
  const auto bound = [&](double value) {
    return integer ? ordered_json(static_cast<int64_t>(value)) : ordered_json(value);
  };
  if (spec.has_above()) schema["exclusiveMinimum"] = bound(spec.above());
  if (spec.has_min()) schema["minimum"] = bound(spec.min());
  if (spec.has_max()) schema["maximum"] = bound(spec.max());
  if (spec.choices_size() > 0) schema["enum"] = HonouredChoices(spec);
  return schema;
}

std::string Description(const OptionSpec& spec) {
  switch (spec.status()) {
    case OptionSpec::REFUSED:
      return absl::StrCat(spec.help(), " Refused unless it is the default: ", spec.reason(), ".");
    case OptionSpec::NO_EFFECT:
      return absl::StrCat(spec.help(), " Has no effect: ", spec.reason(), ".");
    default:
      return spec.help();
  }
}

ordered_json OptionSchema(const FieldDescriptor* field, const OptionSpec& spec) {
  ordered_json schema = ValueSchema(field, spec);
  const bool refused = spec.status() == OptionSpec::REFUSED;
  if (field->is_repeated()) {
    schema = {{"type", "array"}, {"items", std::move(schema)}};
    if (refused) schema["maxItems"] = 0;
  } else if (spec.has_default_value()) {
    schema["default"] = DefaultValue(field, spec);
    if (refused) schema["const"] = schema["default"];
  } else if (refused) {
    schema = {{"type", "null"}};
  } else {
    // null stands for an option that is not given.
    schema["type"] = {schema["type"], "null"};
    if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  }
  if (field->is_repeated() && !spec.required()) schema["type"] = {"array", "null"};
  schema["description"] = Description(spec);
  return schema;
}

class Builder {
 public:
  ordered_json schemas = ordered_json::object();

  // Adds the schema of `message` under `name` unless it is there.
  void Add(const std::string& name, const Descriptor* message, const FieldDescriptor* via) {
    if (schemas.contains(name)) return;
    schemas[name] = nullptr;  // keeps the place, so that outer messages come first
    ordered_json properties = ordered_json::object();
    ordered_json required = ordered_json::array();
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor* field = message->field(i);
      if (IsAbsent(via, field)) continue;
      if (IsOption(field)) {
        const OptionSpec spec = SpecOf(via, field);
        properties[field->name()] = OptionSchema(field, spec);
        if (spec.required()) required.push_back(field->name());
        continue;
      }
      const std::string inner = InnerName(message, field);
      Add(inner, field->message_type(), field);
      properties[field->name()] = {{"$ref", "#/components/schemas/" + inner}};
      if (schemas[inner].contains("required") && field->real_containing_oneof() == nullptr) {
        required.push_back(field->name());
      }
    }
    ordered_json schema = {{"type", "object"}};
    const std::string summary = message->options().GetExtension(tool).summary();
    if (!summary.empty()) schema["description"] = summary;
    schema["additionalProperties"] = false;
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    AddChoices(message, &schema);
    schemas[name] = std::move(schema);
  }

 private:
  // "RunClmData" for a field that changes its message, else the message's own name.
  static std::string InnerName(const Descriptor* message, const FieldDescriptor* field) {
    const google::protobuf::FieldOptions& options = field->options();
    const bool changed = options.ExtensionSize(adjust) > 0 || options.ExtensionSize(absent) > 0;
    if (!changed) return field->message_type()->name();
    std::string part = field->camelcase_name();
    part[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(part[0])));
    return absl::StrCat(message->name(), part);
  }

  // Exactly one member of each oneof.
  static void AddChoices(const Descriptor* message, ordered_json* schema) {
    for (int i = 0; i < message->real_oneof_decl_count(); ++i) {
      ordered_json members = ordered_json::array();
      for (int k = 0; k < message->oneof_decl(i)->field_count(); ++k) {
        members.push_back({{"required", {message->oneof_decl(i)->field(k)->name()}}});
      }
      (*schema)["allOf"].push_back({{"oneOf", std::move(members)}});
    }
  }
};

}  // namespace

std::string JsonSchemas(const std::vector<const Descriptor*>& messages) {
  Builder builder;
  for (const Descriptor* message : messages) builder.Add(message->name(), message, nullptr);
  return builder.schemas.dump(2);
}

}  // namespace trencadis::schema
