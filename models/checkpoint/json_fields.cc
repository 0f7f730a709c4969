#include "models/checkpoint/json_fields.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace trencadis::checkpoint {
namespace {

using Json = nlohmann::json;

bool FitsInt64(const Json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() &&
           value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

}  // namespace

std::string ShortText(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

void JsonFields::Int(const char* key, int64_t& out) {
  const Json value = Take(key);
  if (value.is_null()) return;
  if (!FitsInt64(value)) return Fail(key, value, "an integer");
  out = value.get<int64_t>();
}

void JsonFields::OptionalInt(const char* key, std::optional<int64_t>& out) {
  if (!Has(key)) {
    object_.erase(key);
    return;
  }
  int64_t value = 0;
  Int(key, value);
  out = value;
}

void JsonFields::Number(const char* key, double& out) {
  const Json value = Take(key);
  if (value.is_null()) return;
  if (!value.is_number()) return Fail(key, value, "a number");
  out = value.get<double>();
}

void JsonFields::Bool(const char* key, bool& out) {
  const Json value = Take(key);
  if (value.is_null()) return;
  if (!value.is_boolean()) return Fail(key, value, "true or false");
  out = value.get<bool>();
}

void JsonFields::String(const char* key, std::string& out) {
  const Json value = Take(key);
  if (value.is_null()) return;
  if (!value.is_string()) return Fail(key, value, "a string");
  out = value.get<std::string>();
}

void JsonFields::Strings(const char* key, std::vector<std::string>& out) {
  const Json value = Take(key);
  if (value.is_null()) return;
  if (!value.is_array()) return Fail(key, value, "a list of strings");
  out.clear();
  for (const Json& item : value) {
    if (!item.is_string()) return Fail(key, value, "a list of strings");
    out.push_back(item.get<std::string>());
  }
}

void JsonFields::Ints(const char* key, std::vector<int64_t>& out) {
  const Json value = Take(key);
  if (value.is_null()) return;
  out.clear();
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!FitsInt64(item)) return Fail(key, value, "an integer or a list of integers");
    out.push_back(item.get<int64_t>());
  }
}

Json JsonFields::Take(const char* key) {
  const auto it = object_.find(key);
  if (it == object_.end()) return nullptr;
  Json value = std::move(*it);
  object_.erase(it);
  return value;
}

Json JsonFields::Object(const char* key) {
  Json value = Take(key);
  if (value.is_object()) return value;
  if (!value.is_null()) Fail(key, value, "an object");
  return Json::object();
}

void JsonFields::Fail(const char* key, const Json& value, absl::string_view wanted) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat("\"", key, "\" is ", ShortText(value), "; wanted ", wanted));
}

}  // namespace trencadis::checkpoint
