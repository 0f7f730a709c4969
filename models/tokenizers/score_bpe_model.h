// ScoreBpeModel: SentencePiece's BPE on a vocabulary of pieces with scores, such as GGUF files of
// Llama embed. Gives what the SentencePiece library gives on the same vocabulary with Llama's
// settings (identity normalisation, spaces kept, byte fallback).
#ifndef TRENCADIS_MODELS_TOKENIZERS_SCORE_BPE_MODEL_H_
#define TRENCADIS_MODELS_TOKENIZERS_SCORE_BPE_MODEL_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "models/tokenizers/bpe_merge.h"
#include "models/tokenizers/sentencepiece_model.h"

namespace trencadis::tokenizers {

// SentencePiece's piece types, by its (and GGUF's) numbers.
enum class PieceType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kByte = 6,
  kUnused = 5
};

struct ScoredPiece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

struct ScoreBpeOptions {
  bool add_dummy_prefix = true;  // a space before each text
  int32_t bos_id = -1;
  int32_t eos_id = -1;
  int32_t pad_id = -1;
};

class ScoreBpeModel : public SentencePieceModel {
 public:
  // InvalidArgument unless there is exactly one unknown piece and each text occurs once.
  static absl::StatusOr<std::unique_ptr<ScoreBpeModel>> Create(std::vector<ScoredPiece> pieces,
                                                               const ScoreBpeOptions& options);

  int32_t size() const override { return static_cast<int32_t>(pieces_.size()); }
  std::vector<int32_t> Encode(std::string_view text) const override;
  std::string Decode(const std::vector<std::string>& pieces) const override;
  std::string Piece(int32_t id) const override { return pieces_[id].text; }
  std::optional<int32_t> Find(std::string_view piece) const override;
  int32_t bos_id() const override { return options_.bos_id; }
  int32_t eos_id() const override { return options_.eos_id; }
  int32_t pad_id() const override { return options_.pad_id; }
  int32_t unk_id() const override { return unk_id_; }

 private:
  // How an unused piece came about: the bytes of its left part.
  using Unmerges = std::map<std::string_view, size_t>;

  ScoreBpeModel(std::vector<ScoredPiece> pieces, const ScoreBpeOptions& options)
      : pieces_(std::move(pieces)), options_(options) {}
  absl::Status Index();
  std::vector<BpeSymbol> InitialSymbols(std::string_view text) const;
  // Appends the ids of one merged symbol, whose type decides whether it stands, is split again or
  // falls back to bytes.
  void AppendIds(std::string_view symbol, const Unmerges& unmerges,
                 std::vector<int32_t>& ids) const;
  void AppendUnknown(std::string_view symbol, std::vector<int32_t>& ids) const;

  std::vector<ScoredPiece> pieces_;
  ScoreBpeOptions options_;
  int32_t unk_id_ = -1;
  bool has_bytes_ = false;                                       // all 256 byte pieces are there
  std::array<int32_t, 256> byte_ids_{};                          // -1 where there is none
  std::array<std::vector<std::string_view>, 256> user_defined_;  // by first byte, longest first
  // Views into pieces_. Only pieces that may arise by merging are in mergeable_.
  absl::flat_hash_map<std::string_view, int32_t> mergeable_;
  absl::flat_hash_map<std::string_view, int32_t> reserved_;
};

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_SCORE_BPE_MODEL_H_
