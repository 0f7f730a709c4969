#include "api/schema/validate.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/schema/defaults.h"
#include "api/schema/rules.h"
#include "api/schema/spec.h"
#include "api/schema/value_text.h"

namespace trencadis::schema {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <typename List>
bool Contains(const List& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// What is wrong with one value; empty if nothing is.
std::string ValueProblem(const FieldDescriptor* field, const OptionSpec& spec,
                         const std::string& value) {
  if (spec.choices_size() > 0) {
    if (Contains(spec.refused_choices(), value)) {
      return absl::StrCat("got ", value, ", which is not honoured here: ", spec.reason());
    }
    if (Contains(spec.choices(), value)) return "";
    return absl::StrCat("got \"", value, "\", wanted ", Wanted(field, spec));
  }
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return IsCleanText(value) ? "" : "got bytes that are not UTF-8 text, wanted a text";
  }
  double number = 0;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL || !absl::SimpleAtod(value, &number)) {
    return "";
  }
  const bool fits = std::isfinite(number) && (!spec.has_min() || number >= spec.min()) &&
                    (!spec.has_max() || number <= spec.max()) &&
                    (!spec.has_above() || number > spec.above());
  return fits ? "" : absl::StrCat("got ", value, ", wanted ", Wanted(field, spec));
}

// Walks a message, calling out every option with its place.
class Checker {
 public:
  std::vector<Violation> violations;
  std::vector<std::string> warnings;

  void Walk(const Message& message, const FieldDescriptor* via, const std::string& path) {
    const google::protobuf::Descriptor* descriptor = message.GetDescriptor();
    const Reflection* reflection = message.GetReflection();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor* field = descriptor->field(i);
      const std::string place = absl::StrCat(path, ".", field->name());
      if (IsOption(field)) {
        CheckOption(message, via, field, place);
      } else if (field->real_containing_oneof() == nullptr ||
                 reflection->HasField(message, field)) {
        Walk(reflection->GetMessage(message, field), field, place);
      }
    }
    for (int i = 0; i < descriptor->real_oneof_decl_count(); ++i) {
      CheckOneof(message, descriptor->oneof_decl(i), path);
    }
    if (descriptor->options().HasExtension(tool)) {
      for (Violation& violation : BrokenRules(message)) {
        violation.path.replace(0, 1, path);
        violations.push_back(violation);
      }
    }
  }

 private:
  void CheckOption(const Message& message, const FieldDescriptor* via, const FieldDescriptor* field,
                   const std::string& place) {
    const std::vector<std::string> values = ValuesAsText(message, field);
    const std::string flag = absl::StrCat("--", field->name());
    if (IsAbsent(via, field)) {
      if (!values.empty()) violations.push_back({place, flag, "this program has no such option"});
      return;
    }
    const OptionSpec spec = SpecOf(via, field);
    if (values.empty()) {
      if (spec.required()) {
        violations.push_back(
            {place, flag, absl::StrCat("is missing, wanted ", Wanted(field, spec))});
      }
      return;
    }
    const bool is_default = IsDefault(message, field, spec);
    if (spec.status() == OptionSpec::REFUSED && !is_default) {
      violations.push_back({place, flag,
                            absl::StrCat("got ", absl::StrJoin(values, " "),
                                         ", which is not honoured here: ", spec.reason())});
      return;
    }
    if (spec.status() == OptionSpec::NO_EFFECT && !is_default) {
      warnings.push_back(absl::StrCat(flag, " has no effect: ", spec.reason()));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string problem = ValueProblem(field, spec, values[i]);
      if (problem.empty()) continue;
      const std::string index = field->is_repeated() ? absl::StrCat("[", i, "]") : "";
      violations.push_back({place + index, flag, problem});
    }
  }

  void CheckOneof(const Message& message, const google::protobuf::OneofDescriptor* choice,
                  const std::string& path) {
    if (message.GetReflection()->HasOneof(message, choice)) return;
    std::vector<std::string> names;
    for (int i = 0; i < choice->field_count(); ++i) names.push_back(choice->field(i)->name());
    violations.push_back(
        {path, "",
         absl::StrCat("has no ", choice->name(), ", wanted one of ", absl::StrJoin(names, ", "))});
  }
};

Checker Check(const Message& message) {
  Checker checker;
  checker.Walk(message, /*via=*/nullptr, "$");
  return checker;
}

}  // namespace

std::string ToString(const Violation& violation) {
  const std::string place = violation.flag.empty()
                                ? violation.path
                                : absl::StrCat(violation.flag, " (", violation.path, ")");
  return absl::StrCat(place, ": ", violation.problem);
}

std::vector<Violation> FindViolations(const Message& message) { return Check(message).violations; }

absl::Status Validate(const Message& message) {
  const std::vector<Violation> violations = FindViolations(message);
  if (violations.empty()) return absl::OkStatus();
  const auto line = [](std::string* out, const Violation& v) { out->append(ToString(v)); };
  return absl::InvalidArgumentError(absl::StrJoin(violations, "\n", line));
}

std::vector<std::string> Warnings(const Message& message) { return Check(message).warnings; }

}  // namespace trencadis::schema
