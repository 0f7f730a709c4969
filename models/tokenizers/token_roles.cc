#include "models/tokenizers/token_roles.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

using Json = nlohmann::json;

absl::Status ReadContent(const char* key, const Json& value, std::string& out) {
  if (value.is_null()) return absl::OkStatus();
  const Json content = value.is_object() ? value.value("content", Json()) : value;
  if (!content.is_string()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", key, "\" is ", checkpoint::ShortText(value), "; wanted a token's text"));
  }
  out = content.get<std::string>();
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadTokenRoles(checkpoint::JsonFields& fields, TokenRoles& roles) {
  const auto read = [&](const char* key, std::string& out) {
    return ReadContent(key, fields.Take(key), out);
  };
  TRENCADIS_RETURN_IF_ERROR(read("bos_token", roles.bos));
  TRENCADIS_RETURN_IF_ERROR(read("eos_token", roles.eos));
  TRENCADIS_RETURN_IF_ERROR(read("unk_token", roles.unk));
  TRENCADIS_RETURN_IF_ERROR(read("pad_token", roles.pad));
  const Json more = fields.Take("additional_special_tokens");
  if (!more.is_array()) return absl::OkStatus();
  for (const Json& token : more) {
    std::string content;
    TRENCADIS_RETURN_IF_ERROR(ReadContent("additional_special_tokens", token, content));
    roles.more_special.push_back(content);
  }
  return absl::OkStatus();
}

}  // namespace trencadis::tokenizers
