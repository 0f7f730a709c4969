#include "models/tokenizers/score_bpe_model.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

// What SentencePiece writes for the unknown piece: U+2047 between spaces.
constexpr std::string_view kUnknownSurface = " \xe2\x81\x87 ";

absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }

bool MayArise(PieceType type) {
  return type == PieceType::kNormal || type == PieceType::kUserDefined ||
         type == PieceType::kUnused;
}

std::string BytePiece(int byte) {
  char text[8];
  std::snprintf(text, sizeof(text), "<0x%02X>", byte);
  return text;
}

// Replaces every `from` by `to`.
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  for (size_t at; (at = text.find(from)) != std::string_view::npos;) {
    replaced.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return replaced.append(text);
}

// The characters among `bytes`; each byte that belongs to none becomes U+FFFD by itself.
std::string CharactersOf(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const size_t size = CharacterBytes(Absl(bytes));
    text += size > 0 ? bytes.substr(0, size)
                     : std::string_view(kReplacementCharacter.data(), kReplacementCharacter.size());
    bytes.remove_prefix(size > 0 ? size : 1);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScoreBpeModel>> ScoreBpeModel::Create(
    std::vector<ScoredPiece> pieces, const ScoreBpeOptions& options) {
  std::unique_ptr<ScoreBpeModel> model(new ScoreBpeModel(std::move(pieces), options));
  TRENCADIS_RETURN_IF_ERROR(model->Index());
  return model;
}

absl::Status ScoreBpeModel::Index() {
  byte_ids_.fill(-1);
  std::vector<std::string> byte_pieces(256);
  for (int byte = 0; byte < 256; ++byte) byte_pieces[byte] = BytePiece(byte);
  for (int32_t id = 0; id < size(); ++id) {
    const ScoredPiece& piece = pieces_[id];
    auto& index = MayArise(piece.type) ? mergeable_ : reserved_;
    if (piece.text.empty() || !index.emplace(piece.text, id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("piece ", id, " ('", piece.text, "') is empty or occurs twice"));
    }
    if (piece.type == PieceType::kUserDefined) {
      user_defined_[static_cast<unsigned char>(piece.text[0])].push_back(piece.text);
    }
    if (piece.type == PieceType::kUnknown) {
      if (unk_id_ >= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("pieces ", unk_id_, " and ", id, " are both marked as the unknown piece"));
      }
      unk_id_ = id;
    }
    if (piece.type == PieceType::kByte) {
      const auto it = std::find(byte_pieces.begin(), byte_pieces.end(), piece.text);
      if (it == byte_pieces.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("piece ", id, " ('", piece.text, "') is marked as a byte but is none"));
      }
      byte_ids_[it - byte_pieces.begin()] = id;
    }
  }
  if (unk_id_ < 0) return absl::InvalidArgumentError("no piece is marked as the unknown piece");
  has_bytes_ = std::find(byte_ids_.begin(), byte_ids_.end(), -1) == byte_ids_.end();
  for (std::vector<std::string_view>& pieces : user_defined_) {
    std::sort(pieces.begin(), pieces.end(),
              [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  }
  return absl::OkStatus();
}

std::optional<int32_t> ScoreBpeModel::Find(std::string_view piece) const {
  if (const auto it = reserved_.find(piece); it != reserved_.end()) return it->second;
  if (const auto it = mergeable_.find(piece); it != mergeable_.end()) return it->second;
  return std::nullopt;
}

std::vector<BpeSymbol> ScoreBpeModel::InitialSymbols(std::string_view text) const {
  std::vector<BpeSymbol> symbols;
  for (size_t at = 0; at < text.size();) {
    BpeSymbol symbol{.begin = at};
    for (std::string_view whole : user_defined_[static_cast<unsigned char>(text[at])]) {
      if (text.compare(at, whole.size(), whole) == 0) {
        symbol.bytes = whole.size();
        symbol.frozen = true;
        break;
      }
    }
    // A malformed byte stands for itself; callers pass UTF-8.
    if (symbol.bytes == 0) {
      symbol.bytes = std::max<size_t>(1, CharacterBytes(Absl(text.substr(at))));
    }
    at += symbol.bytes;
    symbols.push_back(symbol);
  }
  return symbols;
}

std::vector<int32_t> ScoreBpeModel::Encode(std::string_view text) const {
  if (text.empty()) return {};
  const std::string spaced = (options_.add_dummy_prefix ? std::string(kSpaceSymbol) : "") +
                             ReplaceAll(text, " ", kSpaceSymbol);
  std::vector<BpeSymbol> symbols = InitialSymbols(spaced);
  Unmerges unmerges;
  MergeSymbols(symbols, [&](const BpeSymbol& left, const BpeSymbol& right) {
    const std::string_view merged(spaced.data() + left.begin, left.bytes + right.bytes);
    const auto it = mergeable_.find(merged);
    if (it == mergeable_.end()) return std::optional<BpeMerge>();
    const ScoredPiece& piece = pieces_[it->second];
    if (piece.type == PieceType::kUnused) unmerges[merged] = left.bytes;
    return std::optional<BpeMerge>({piece.score, it->second});
  });
  std::vector<int32_t> ids;
  for (const BpeSymbol& symbol : symbols) {
    if (symbol.bytes == 0) continue;
    AppendIds(std::string_view(spaced).substr(symbol.begin, symbol.bytes), unmerges, ids);
  }
  return ids;
}

void ScoreBpeModel::AppendIds(std::string_view symbol, const Unmerges& unmerges,
                              std::vector<int32_t>& ids) const {
  const std::optional<int32_t> id = Find(symbol);
  if (!id || *id == unk_id_) return AppendUnknown(symbol, ids);
  const auto parts = unmerges.find(symbol);
  if (pieces_[*id].type != PieceType::kUnused || parts == unmerges.end()) {
    ids.push_back(*id);
    return;
  }
  AppendIds(symbol.substr(0, parts->second), unmerges, ids);
  AppendIds(symbol.substr(parts->second), unmerges, ids);
}

void ScoreBpeModel::AppendUnknown(std::string_view symbol, std::vector<int32_t>& ids) const {
  if (has_bytes_) {
    for (char c : symbol) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  } else if (ids.empty() || ids.back() != unk_id_) {
    // A run of unknown characters is one unknown piece.
    ids.push_back(unk_id_);
  }
}

std::string ScoreBpeModel::Decode(const std::vector<std::string>& pieces) const {
  std::string text, bytes;
  // Whether the space that Encode puts before a text may still come.
  bool at_start = options_.add_dummy_prefix;
  for (const std::string& piece : pieces) {
    const std::optional<int32_t> id = Find(piece);
    const PieceType type = id ? pieces_[*id].type : PieceType::kUnknown;
    if (type == PieceType::kByte) {
      bytes +=
          static_cast<char>(std::find(byte_ids_.begin(), byte_ids_.end(), *id) - byte_ids_.begin());
      continue;
    }
    text += CharactersOf(std::exchange(bytes, ""));
    if (!text.empty()) at_start = false;
    if (type == PieceType::kControl) continue;
    if (type == PieceType::kUnknown) {
      text += id ? kUnknownSurface : std::string_view(piece);
      continue;
    }
    std::string_view rest = piece;
    if (at_start && rest.substr(0, kSpaceSymbol.size()) == kSpaceSymbol) {
      rest.remove_prefix(kSpaceSymbol.size());
      at_start = false;
    }
    text += ReplaceAll(rest, kSpaceSymbol, " ");
  }
  return text + CharactersOf(bytes);
}

}  // namespace trencadis::tokenizers
