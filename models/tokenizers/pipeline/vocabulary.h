// The "vocab" of a tokenizer.json's model: tokens by id and ids by token.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_VOCABULARY_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_VOCABULARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

// Immutable, thread-safe. Held by pointer, since its index points into itself.
class Vocabulary {
 public:
  // From an object of ids by token. InvalidArgument for ids that are negative, repeated, or far
  // beyond the number of tokens.
  static absl::StatusOr<std::unique_ptr<Vocabulary>> Parse(const nlohmann::json& json);
  // With ids 0, 1, ...; of equal tokens the first counts.
  explicit Vocabulary(std::vector<std::string> tokens);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  // Empty for an id without a token.
  absl::string_view Text(int32_t id) const;
  std::optional<int32_t> Find(absl::string_view token) const;

 private:
  std::vector<std::string> tokens_;
  absl::flat_hash_map<absl::string_view, int32_t> ids_;
};

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_VOCABULARY_H_
