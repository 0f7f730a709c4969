// Trains the quickstart's SentencePiece tokenizer on what make_corpus wrote.
//
// Usage: make_tokenizer DATA_DIRECTORY MODEL_DIRECTORY. Reads corpus.jsonl and instructions.json,
// writes tokenizer.model and tokenizer_config.json. The vocabulary's size is that of the model
// directory's config.json.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "tools/quickstart/tokenizer_trainer.h"

namespace trencadis::quickstart {
namespace {

constexpr absl::string_view kTokenizerConfig = R"({
  "tokenizer_class": "LlamaTokenizer",
  "add_bos_token": true,
  "add_eos_token": false,
  "bos_token": "<s>",
  "eos_token": "</s>",
  "unk_token": "<unk>",
  "clean_up_tokenization_spaces": false,
  "legacy": true
}
)";

absl::StatusOr<nlohmann::json> ParseJson(const std::string& text, absl::string_view what) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return absl::InvalidArgumentError(absl::StrCat(what, " is not JSON"));
  return value;
}

absl::Status AppendCorpus(const std::string& path, std::vector<std::string>& texts) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::string lines, RealFileSystem().ReadFile(path));
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    TRENCADIS_ASSIGN_OR_RETURN(const nlohmann::json record, ParseJson(std::string(line), path));
    texts.push_back(record.value("text", ""));
  }
  return absl::OkStatus();
}

absl::Status AppendInstructions(const std::string& path, std::vector<std::string>& texts) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().ReadFile(path));
  TRENCADIS_ASSIGN_OR_RETURN(const nlohmann::json records, ParseJson(text, path));
  for (const nlohmann::json& record : records) {
    for (const char* key : {"instruction", "input", "output"}) {
      texts.push_back(record.value(key, ""));
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const std::string& data, const std::string& model) {
  const std::string config_path = JoinPath(model, "config.json");
  TRENCADIS_ASSIGN_OR_RETURN(const std::string config_text, RealFileSystem().ReadFile(config_path));
  TRENCADIS_ASSIGN_OR_RETURN(const nlohmann::json config, ParseJson(config_text, config_path));
  std::vector<std::string> texts;
  TRENCADIS_RETURN_IF_ERROR(AppendCorpus(JoinPath(data, "corpus.jsonl"), texts));
  TRENCADIS_RETURN_IF_ERROR(AppendInstructions(JoinPath(data, "instructions.json"), texts));
  const int size = config.value("vocab_size", 0);
  const TrainedTokenizer tokenizer = TrainTokenizer(texts, size);
  if (!tokenizer.error.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot train the ", size, " pieces that ",
                                                   config_path, " asks for: ", tokenizer.error));
  }
  TRENCADIS_RETURN_IF_ERROR(
      WriteFileAtomically(JoinPath(model, "tokenizer.model"), tokenizer.model));
  return WriteFileAtomically(JoinPath(model, "tokenizer_config.json"), kTokenizerConfig);
}

}  // namespace
}  // namespace trencadis::quickstart

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_tokenizer DATA_DIRECTORY MODEL_DIRECTORY\n");
    return 2;
  }
  const absl::Status status = trencadis::quickstart::Run(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "make_tokenizer: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
