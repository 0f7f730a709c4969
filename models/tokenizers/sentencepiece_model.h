// SentencePieceModel: a vocabulary of pieces and the two conversions that need nothing else. What
// surrounds them (special tokens, begin and end) is SentencePieceTokenizer's.
//
// Immutable and thread-safe. Only standard types cross this interface: SentencePiece's own header
// defines names that clash with Abseil's.
#ifndef TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_MODEL_H_
#define TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis::tokenizers {

// U+2581, which stands for a space inside pieces.
inline constexpr std::string_view kSpaceSymbol = "\xe2\x96\x81";

class SentencePieceModel {
 public:
  virtual ~SentencePieceModel() = default;

  virtual int32_t size() const = 0;
  // Ids of `text`, which is UTF-8.
  virtual std::vector<int32_t> Encode(std::string_view text) const = 0;
  // Text of pieces. The space that Encode adds at the start of a text is removed again; control
  // pieces read as nothing, strings that are no piece as themselves, and byte pieces that form no
  // character as U+FFFD each.
  virtual std::string Decode(const std::vector<std::string>& pieces) const = 0;
  // `id` in [0, size).
  virtual std::string Piece(int32_t id) const = 0;
  virtual std::optional<int32_t> Find(std::string_view piece) const = 0;
  // The model's own ids; -1 for none.
  virtual int32_t bos_id() const = 0;
  virtual int32_t eos_id() const = 0;
  virtual int32_t pad_id() const = 0;
  virtual int32_t unk_id() const = 0;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_SENTENCEPIECE_MODEL_H_
