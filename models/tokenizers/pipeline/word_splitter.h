// Reads the "pre_tokenizer" of a tokenizer.json.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_WORD_SPLITTER_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_WORD_SPLITTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/tokenizers/pipeline/parts.h"
#include "nlohmann/json_fwd.hpp"

namespace trencadis::tokenizers::pipeline {

// nullptr for null. ByteLevel, Metaspace, Split, Digits, Whitespace, WhitespaceSplit, Punctuation,
// CharDelimiterSplit, BertPreTokenizer and Sequence; Unimplemented names any other.
absl::StatusOr<std::unique_ptr<WordSplitter>> ParseWordSplitter(const nlohmann::json& json);

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_WORD_SPLITTER_H_
