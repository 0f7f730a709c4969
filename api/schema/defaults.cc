#include "api/schema/defaults.h"

#include <memory>

#include "api/schema/spec.h"
#include "api/schema/value_text.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void Fill(Message* message, const FieldDescriptor* via) {
  const Descriptor* descriptor = message->GetDescriptor();
  const Reflection* reflection = message->GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (!IsOption(field)) {
      const bool unchosen =
          field->real_containing_oneof() != nullptr && !reflection->HasField(*message, field);
      if (!unchosen) Fill(reflection->MutableMessage(message, field), field);
      continue;
    }
    if (IsAbsent(via, field) || field->is_repeated() || reflection->HasField(*message, field)) {
      continue;
    }
    const OptionSpec spec = SpecOf(via, field);
    if (spec.has_default_value()) {
      TRENCADIS_CHECK(SetFromText(message, field, spec.default_value()).ok());
    }
  }
}

void CollectGiven(const Message& message, std::vector<std::string>* names) {
  const Descriptor* descriptor = message.GetDescriptor();
  const Reflection* reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const bool set = field->is_repeated() ? reflection->FieldSize(message, field) > 0
                                          : reflection->HasField(message, field);
    if (!set) continue;
    if (IsOption(field)) {
      names->push_back(field->name());
    } else {
      CollectGiven(reflection->GetMessage(message, field), names);
    }
  }
}

}  // namespace

void ApplyDefaults(Message* message) { Fill(message, /*via=*/nullptr); }

bool IsDefault(const Message& message, const FieldDescriptor* field, const OptionSpec& spec) {
  const std::vector<std::string> values = ValuesAsText(message, field);
  if (values.empty()) return true;
  if (!spec.has_default_value() || field->is_repeated()) return false;
  const std::unique_ptr<Message> fresh(message.New());
  TRENCADIS_CHECK(SetFromText(fresh.get(), field, spec.default_value()).ok());
  return ValuesAsText(*fresh, field) == values;
}

std::vector<std::string> GivenOptions(const Message& message) {
  std::vector<std::string> names;
  CollectGiven(message, &names);
  return names;
}

}  // namespace trencadis::schema
