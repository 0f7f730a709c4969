// Tokenizer: text to token ids and back.
//
// Immutable once loaded: every method may be called from any number of threads. Text is UTF-8.
#ifndef TRENCADIS_MODELS_TOKENIZERS_TOKENIZER_H_
#define TRENCADIS_MODELS_TOKENIZERS_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis::tokenizers {

struct EncodeOptions {
  // Adds what the model expects around a text (for Llama: the begin-of-sequence token).
  bool add_special_tokens = true;
  // Whether the text of a special token ("</s>") becomes that token. Turn off for text that must
  // not be able to forge one.
  bool parse_special_tokens = true;
};

struct DecodeOptions {
  bool skip_special_tokens = false;
};

// The ids that have a role; each is empty where the model has none.
struct SpecialTokens {
  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  std::optional<int32_t> pad;
  std::optional<int32_t> unk;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // InvalidArgument when `text` is not UTF-8.
  virtual absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                                      const EncodeOptions& options = {}) const = 0;
  // OutOfRange for an id outside [0, vocab_size). Bytes that form no character become U+FFFD.
  virtual absl::StatusOr<std::string> Decode(absl::Span<const int32_t> ids,
                                             const DecodeOptions& options = {}) const = 0;

  // Number of ids, added tokens included. A model's embedding may have more rows.
  virtual int64_t vocab_size() const = 0;
  virtual const SpecialTokens& special_tokens() const = 0;
  virtual bool IsSpecial(int32_t id) const = 0;
  // A token's own text ("▁Hello", "<0x0A>"); empty for an id outside the vocabulary.
  virtual std::string TokenText(int32_t id) const = 0;
  // The id of a token by its own text.
  virtual std::optional<int32_t> FindToken(absl::string_view token_text) const = 0;
};

// Decodes a sequence that arrives token by token. The pieces returned, joined, are what Decode
// gives for the whole sequence, save for spaces beside special tokens that are not skipped; each
// holds whole characters only. For one sequence, in one thread.
class StreamingDecoder {
 public:
  // `tokenizer` must outlive the decoder.
  explicit StreamingDecoder(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(tokenizer), options_(options) {}

  // The text that `id` completes; empty while a character is still incomplete.
  absl::StatusOr<std::string> Append(int32_t id);
  // The rest, once no more tokens come. The decoder may not be used afterwards.
  absl::StatusOr<std::string> Finish();

 private:
  absl::StatusOr<std::string> Advance(bool finish);

  const Tokenizer& tokenizer_;
  DecodeOptions options_;
  std::vector<int32_t> ids_;
  // Text of ids_[context_, emitted_) has been returned and is decoded again only as context, since
  // how a token reads depends on the one before it.
  size_t context_ = 0;
  size_t emitted_ = 0;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_TOKENIZER_H_
