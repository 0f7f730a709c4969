#include "api/schema/spec.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trencadis::schema {
namespace {

using google::protobuf::FieldDescriptor;

template <typename List>
bool Contains(const List& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string TypeText(const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return "an integer";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "a number";
    case FieldDescriptor::CPPTYPE_STRING:
      return "a text";
    default:
      return "an object";
  }
}

}  // namespace

bool IsOption(const FieldDescriptor* field) {
  return field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsAbsent(const FieldDescriptor* via, const FieldDescriptor* field) {
  if (via == nullptr) return false;
  const google::protobuf::FieldOptions& options = via->options();
  for (int i = 0; i < options.ExtensionSize(absent); ++i) {
    if (options.GetExtension(absent, i) == field->name()) return true;
  }
  return false;
}

OptionSpec SpecOf(const FieldDescriptor* via, const FieldDescriptor* field) {
  OptionSpec spec = field->options().GetExtension(option);
  if (spec.group().empty()) {
    const google::protobuf::Descriptor* message = field->containing_type();
    spec.set_group(message->options().GetExtension(title));
    if (spec.group().empty()) spec.set_group(message->name());
  }
  if (via == nullptr) return spec;
  const google::protobuf::FieldOptions& options = via->options();
  for (int i = 0; i < options.ExtensionSize(adjust); ++i) {
    const Adjustment& change = options.GetExtension(adjust, i);
    if (change.field() != field->name()) continue;
    if (change.spec().choices_size() > 0) spec.clear_choices();
    if (change.spec().refused_choices_size() > 0) spec.clear_refused_choices();
    if (change.spec().aliases_size() > 0) spec.clear_aliases();
    spec.MergeFrom(change.spec());
  }
  return spec;
}

std::vector<std::string> HonouredChoices(const OptionSpec& spec) {
  std::vector<std::string> honoured;
  for (const std::string& choice : spec.choices()) {
    if (!Contains(spec.refused_choices(), choice)) honoured.push_back(choice);
  }
  return honoured;
}

std::string BoundsText(const OptionSpec& spec) {
  std::vector<std::string> parts;
  if (spec.has_above()) parts.push_back(absl::StrCat("above ", spec.above()));
  if (spec.has_min()) parts.push_back(absl::StrCat("at least ", spec.min()));
  if (spec.has_max()) parts.push_back(absl::StrCat("at most ", spec.max()));
  return absl::StrJoin(parts, ", ");
}

std::string Wanted(const FieldDescriptor* field, const OptionSpec& spec) {
  if (spec.choices_size() > 0) {
    return absl::StrCat("one of ", absl::StrJoin(HonouredChoices(spec), ", "));
  }
  const std::string bounds = BoundsText(spec);
  return bounds.empty() ? TypeText(field) : absl::StrCat(TypeText(field), " ", bounds);
}

}  // namespace trencadis::schema
