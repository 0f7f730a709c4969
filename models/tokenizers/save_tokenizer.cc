#include "models/tokenizers/save_tokenizer.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/hf_writer.h"
#include "models/tokenizers/byte_level_json.h"
#include "models/tokenizers/gguf_tokenizer.h"
#include "models/tokenizers/score_bpe_model.h"
#include "models/tokenizers/sentencepiece_file.pb.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

constexpr char kModelFile[] = "tokenizer.model";
constexpr char kJsonFile[] = "tokenizer.json";
constexpr char kConfigFile[] = "tokenizer_config.json";

absl::Status CopyFile(const std::string& from, const std::string& to) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::string bytes, RealFileSystem().ReadFile(from));
  return WriteFileAtomically(to, bytes);
}

// SentencePiece wants exactly one unknown piece; files mark others too.
PieceType TypeOf(const std::vector<int64_t>& types, int32_t id, const SpecialTokens& special) {
  if (id == special.unk) return PieceType::kUnknown;
  const auto type = types.empty() ? PieceType::kNormal : static_cast<PieceType>(types[id]);
  return type == PieceType::kUnknown ? PieceType::kControl : type;
}

absl::StatusOr<SentencePieceFile> ModelOf(const checkpoint::GgufMetadata& metadata,
                                          const Tokenizer& tokenizer) {
  std::vector<float> scores;
  std::vector<int64_t> types;
  bool space_prefix = true;
  TRENCADIS_RETURN_IF_ERROR(metadata.Numbers("tokenizer.ggml.scores", scores));
  TRENCADIS_RETURN_IF_ERROR(metadata.Ints("tokenizer.ggml.token_type", types));
  TRENCADIS_RETURN_IF_ERROR(metadata.Bool("tokenizer.ggml.add_space_prefix", space_prefix));
  const SpecialTokens& special = tokenizer.special_tokens();
  SentencePieceFile file;
  for (int32_t id = 0; id < static_cast<int32_t>(scores.size()); ++id) {
    SentencePieceFile::Piece& piece = *file.add_pieces();
    piece.set_piece(tokenizer.TokenText(id));
    piece.set_score(scores[id]);
    piece.set_type(static_cast<uint32_t>(TypeOf(types, id, special)));
  }
  constexpr uint32_t kBpe = 2;
  SentencePieceFile::Trainer& trainer = *file.mutable_trainer_spec();
  trainer.set_model_type(kBpe);
  trainer.set_vocab_size(file.pieces_size());
  trainer.set_byte_fallback(true);
  trainer.set_unk_id(special.unk.value_or(-1));
  trainer.set_bos_id(special.bos.value_or(-1));
  trainer.set_eos_id(special.eos.value_or(-1));
  trainer.set_pad_id(special.pad.value_or(-1));
  SentencePieceFile::Normalizer& normalizer = *file.mutable_normalizer_spec();
  normalizer.set_name("identity");
  normalizer.set_add_dummy_prefix(space_prefix);
  normalizer.set_remove_extra_whitespaces(false);
  normalizer.set_escape_whitespaces(true);
  return file;
}

// What surrounds an empty text says which tokens are added to every text.
absl::StatusOr<std::string> ConfigOf(const Tokenizer& tokenizer, const char* tokenizer_class) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<int32_t> around, tokenizer.Encode(""));
  const bool add_bos = !around.empty() && around.front() == tokenizer.special_tokens().bos;
  nlohmann::ordered_json config = {{"tokenizer_class", tokenizer_class},
                                   {"clean_up_tokenization_spaces", false},
                                   {"add_bos_token", add_bos},
                                   {"add_eos_token", around.size() > (add_bos ? 1u : 0u)}};
  const SpecialTokens& special = tokenizer.special_tokens();
  const std::pair<const char*, std::optional<int32_t>> roles[] = {{"bos_token", special.bos},
                                                                  {"eos_token", special.eos},
                                                                  {"pad_token", special.pad},
                                                                  {"unk_token", special.unk}};
  for (const auto& [key, id] : roles) {
    if (id.has_value()) config[key] = tokenizer.TokenText(*id);
  }
  return config.dump(2);
}

absl::Status SaveFromGguf(const std::string& path, const std::string& directory) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto file, checkpoint::GgufFile::Open(path));
  const checkpoint::GgufMetadata& metadata = file->metadata();
  std::string model;
  TRENCADIS_RETURN_IF_ERROR(metadata.String("tokenizer.ggml.model", model));
  // Refuses what is neither.
  TRENCADIS_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                             TokenizerFromGguf(metadata));
  const bool byte_level = model == "gpt2";
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::string config,
      ConfigOf(*tokenizer, byte_level ? "PreTrainedTokenizerFast" : "LlamaTokenizer"));
  if (byte_level) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::string json,
                               ByteLevelTokenizerJson(metadata, *tokenizer));
    TRENCADIS_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(directory, kJsonFile), json));
  } else {
    TRENCADIS_ASSIGN_OR_RETURN(const SentencePieceFile pieces, ModelOf(metadata, *tokenizer));
    TRENCADIS_RETURN_IF_ERROR(
        WriteFileAtomically(JoinPath(directory, kModelFile), pieces.SerializeAsString()));
  }
  return WriteFileAtomically(JoinPath(directory, kConfigFile), config);
}

}  // namespace

absl::Status SaveTokenizer(const std::string& path, const std::string& directory) {
  if (RealFileSystem().IsDirectory(path)) return checkpoint::CopyTokenizerFiles(path, directory);
  if (absl::EndsWithIgnoreCase(path, ".gguf")) return SaveFromGguf(path, directory);
  return CopyFile(path, JoinPath(directory, kModelFile));
}

}  // namespace trencadis::tokenizers
