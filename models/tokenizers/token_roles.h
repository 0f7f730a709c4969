// Which token begins a text, ends it, pads and stands for the unknown, as transformers' JSON files
// (tokenizer_config.json, special_tokens_map.json) say it.
#ifndef TRENCADIS_MODELS_TOKENIZERS_TOKEN_ROLES_H_
#define TRENCADIS_MODELS_TOKENIZERS_TOKEN_ROLES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/checkpoint/json_fields.h"

namespace trencadis::tokenizers {

// Texts of tokens; empty for none.
struct TokenRoles {
  std::string bos;
  std::string eos;
  std::string unk;
  std::string pad;
  std::vector<std::string> more_special;  // additional_special_tokens
};

// Takes bos_token, eos_token, unk_token, pad_token and additional_special_tokens out of `fields`;
// what is absent stays as it is in `roles`. A token is its text or an object with the text as
// "content".
absl::Status ReadTokenRoles(checkpoint::JsonFields& fields, TokenRoles& roles);

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_TOKEN_ROLES_H_
