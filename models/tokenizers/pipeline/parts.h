// The parts of a Hugging Face tokenizer.json: normalizer, pre-tokenizer, model, decoder. Each is
// read from the object under its name in the file, and does what the part of that name does in
// huggingface/tokenizers.
//
// All parts are immutable and thread-safe. Text is UTF-8.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_PARTS_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_PARTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis::tokenizers::pipeline {

// Rewrites text before it is cut into words.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual absl::StatusOr<std::string> Apply(std::string text) const = 0;
};

// A part of the text between added tokens.
struct Word {
  std::string text;
  bool at_start = false;  // begins the whole text
};

// Cuts words into smaller ones, and may rewrite them. No word is empty.
class WordSplitter {
 public:
  virtual ~WordSplitter() = default;
  virtual absl::StatusOr<std::vector<Word>> Apply(std::vector<Word> words) const = 0;
};

// Turns words into ids.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  virtual void Append(absl::string_view word, std::vector<int32_t>& ids) const = 0;
  virtual int32_t size() const = 0;
  // Empty for an id that no token has.
  virtual std::string TokenText(int32_t id) const = 0;
  virtual std::optional<int32_t> Find(absl::string_view token) const = 0;
};

// Turns tokens back into text: the results, joined, are the text.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual std::vector<std::string> Apply(std::vector<std::string> tokens) const = 0;
};

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_PARTS_H_
