#include "api/schema/value_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status Mismatch(absl::string_view text, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("got \"", text, "\", wanted ", wanted));
}

// Bytes of the UTF-8 sequence that starts with `lead`; 0 if none does. (Unicode 15, table 3-7.)
int SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool SecondByteFits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

template <typename T, typename Add, typename Set>
void Store(const FieldDescriptor* field, T value, Add add, Set set) {
  if (field->is_repeated()) {
    add(value);
  } else {
    set(value);
  }
}

}  // namespace

std::optional<bool> ParseBool(absl::string_view text) {
  const std::string word = absl::AsciiStrToLower(text);
  for (const char* yes : {"true", "t", "yes", "y", "1"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"false", "f", "no", "n", "0"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

std::string FormatDouble(double value) {
  char buffer[32];
  const std::to_chars_result result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

bool IsCleanText(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = static_cast<unsigned char>(text[i]);
    const int length = lead == 0 ? 0 : SequenceLength(lead);
    if (length == 0 || i + length > text.size()) return false;
    for (int k = 1; k < length; ++k) {
      const unsigned char byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xC0) != 0x80 || (k == 1 && !SecondByteFits(lead, byte))) return false;
    }
    i += length;
  }
  return true;
}

absl::Status SetFromText(Message* message, const FieldDescriptor* field, absl::string_view text) {
  const Reflection* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL: {
      const std::optional<bool> value = ParseBool(text);
      if (!value.has_value()) return Mismatch(text, "true or false");
      Store(
          field, *value, [&](bool v) { reflection->AddBool(message, field, v); },
          [&](bool v) { reflection->SetBool(message, field, v); });
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      int32_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return Mismatch(text, "an integer of 32 bits");
      Store(
          field, value, [&](int32_t v) { reflection->AddInt32(message, field, v); },
          [&](int32_t v) { reflection->SetInt32(message, field, v); });
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      int64_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return Mismatch(text, "an integer of 64 bits");
      Store(
          field, value, [&](int64_t v) { reflection->AddInt64(message, field, v); },
          [&](int64_t v) { reflection->SetInt64(message, field, v); });
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value = 0;
      if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
        return Mismatch(text, "a finite number");
      }
      Store(
          field, value, [&](double v) { reflection->AddDouble(message, field, v); },
          [&](double v) { reflection->SetDouble(message, field, v); });
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      if (!IsCleanText(text)) {
        return absl::InvalidArgumentError("got bytes that are not UTF-8 text, wanted a text");
      }
      Store(
          field, std::string(text),
          [&](const std::string& v) { reflection->AddString(message, field, v); },
          [&](const std::string& v) { reflection->SetString(message, field, v); });
      return absl::OkStatus();
    }
    default:
      return absl::InternalError(
          absl::StrCat(field->full_name(), " has a type that options do not use"));
  }
}

std::vector<std::string> ValuesAsText(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  const bool list = field->is_repeated();
  const int count = list ? reflection->FieldSize(message, field)
                         : static_cast<int>(reflection->HasField(message, field));
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL: {
        const bool value = list ? reflection->GetRepeatedBool(message, field, i)
                                : reflection->GetBool(message, field);
        values.push_back(value ? "true" : "false");
        break;
      }
      case FieldDescriptor::CPPTYPE_INT32:
        values.push_back(absl::StrCat(list ? reflection->GetRepeatedInt32(message, field, i)
                                           : reflection->GetInt32(message, field)));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        values.push_back(absl::StrCat(list ? reflection->GetRepeatedInt64(message, field, i)
                                           : reflection->GetInt64(message, field)));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        values.push_back(FormatDouble(list ? reflection->GetRepeatedDouble(message, field, i)
                                           : reflection->GetDouble(message, field)));
        break;
      default:
        values.push_back(list ? reflection->GetRepeatedString(message, field, i)
                              : reflection->GetString(message, field));
    }
  }
  return values;
}

}  // namespace trencadis::schema
