// PrecompiledMap: the replacement table that SentencePiece compiles its normalization rules to.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_PRECOMPILED_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_PRECOMPILED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::tokenizers::pipeline {

// A trie (Darts-clone double array) from text to an offset into a list of replacements. Immutable,
// thread-safe.
class PrecompiledMap {
 public:
  // `bytes`: the trie's size in bytes (u32), the trie, the replacements, each ended by a NUL.
  static absl::StatusOr<PrecompiledMap> Parse(absl::string_view bytes);

  // Replaces as the tokenizers library does: each grapheme cluster of fewer than 6 bytes as a
  // whole, by what the shortest entry that begins it says; other clusters character by character.
  std::string Normalize(const std::string& text) const;

 private:
  // The replacement of the shortest entry that begins `text`.
  std::optional<absl::string_view> Find(absl::string_view text) const;

  std::vector<uint32_t> trie_;
  std::string replacements_;
};

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_PRECOMPILED_H_
