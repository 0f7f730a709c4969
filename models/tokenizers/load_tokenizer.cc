#include "models/tokenizers/load_tokenizer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/gguf.h"
#include "models/tokenizers/gguf_tokenizer.h"
#include "models/tokenizers/llama_tokenizer.h"
#include "models/tokenizers/pipeline/json_tokenizer.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadFromGguf(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto file, checkpoint::GgufFile::Open(path));
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = TokenizerFromGguf(file->metadata());
  if (!tokenizer.ok()) return Annotate(tokenizer.status(), path);
  return tokenizer;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadFromDirectory(const std::string& directory) {
  FileSystem& fs = RealFileSystem();
  const std::string model = JoinPath(directory, "tokenizer.model");
  const bool has_json = fs.Exists(JoinPath(directory, "tokenizer.json"));
  if (fs.Exists(model)) {
    absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = LoadLlamaTokenizer(model, directory);
    // Other classes than Llama's keep their rules in tokenizer.json.
    if (!absl::IsUnimplemented(tokenizer.status()) || !has_json) return tokenizer;
  }
  if (has_json) return pipeline::LoadJsonTokenizer(directory);
  return absl::NotFoundError(
      absl::StrCat(directory, " has neither tokenizer.model nor tokenizer.json"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::string& path) {
  FileSystem& fs = RealFileSystem();
  if (!fs.Exists(path)) return absl::NotFoundError(absl::StrCat(path, " does not exist"));
  if (fs.IsDirectory(path)) return LoadFromDirectory(path);
  if (absl::EndsWithIgnoreCase(path, ".gguf")) return LoadFromGguf(path);
  if (absl::EndsWith(path, ".model")) return LoadLlamaTokenizer(path, "");
  return absl::InvalidArgumentError(absl::StrCat(
      path, " is no tokenizer; wanted a model directory, a SentencePiece .model or a .gguf file"));
}

}  // namespace trencadis::tokenizers
