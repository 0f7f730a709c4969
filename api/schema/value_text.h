// One option's value as text: read strictly, written so that reading gives the same value back.
#ifndef TRENCADIS_API_SCHEMA_VALUE_TEXT_H_
#define TRENCADIS_API_SCHEMA_VALUE_TEXT_H_

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis::schema {

// true/t/yes/y/1 and false/f/no/n/0 in any case, as transformers' argument parser reads them.
std::optional<bool> ParseBool(absl::string_view text);

// The shortest decimal form that reads back as the same double.
std::string FormatDouble(double value);

// Sets `field` of `message` from text: appends to a list, replaces a scalar. INVALID_ARGUMENT
// ("got ..., wanted ...") if the text is not of the field's type; nan, infinities and numbers that
// do not fit count as such, as do texts that are not UTF-8 or contain a NUL.
absl::Status SetFromText(google::protobuf::Message* message,
                         const google::protobuf::FieldDescriptor* field, absl::string_view text);

// The values of `field` as text: one for a scalar that is set, one per element of a list.
std::vector<std::string> ValuesAsText(const google::protobuf::Message& message,
                                      const google::protobuf::FieldDescriptor* field);

// Whether `text` may be an option's text: valid UTF-8 without NUL.
bool IsCleanText(absl::string_view text);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_VALUE_TEXT_H_
