// Trains a SentencePiece model of the kind that Llama uses.
//
// The interface speaks std only: SentencePiece's headers and Abseil's define absl::string_view
// twice, so that no file can include both.
#ifndef TRENCADIS_TOOLS_QUICKSTART_TOKENIZER_TRAINER_H_
#define TRENCADIS_TOOLS_QUICKSTART_TOKENIZER_TRAINER_H_

#include <string>
#include <vector>

namespace trencadis::quickstart {

struct TrainedTokenizer {
  std::string model;  // The bytes of a tokenizer.model; empty on failure.
  std::string error;  // Why it failed; empty on success.
};

// Byte-pair encoding with byte fallback, identity normalisation, a dummy prefix space, <unk> 0,
// <s> 1, </s> 2. A newline is always the byte token <0x0A>. Deterministic. Fails when `texts`
// cannot fill `vocabulary_size` pieces.
TrainedTokenizer TrainTokenizer(const std::vector<std::string>& texts, int vocabulary_size);

}  // namespace trencadis::quickstart

#endif  // TRENCADIS_TOOLS_QUICKSTART_TOKENIZER_TRAINER_H_
