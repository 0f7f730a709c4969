#include "models/tokenizers/sentencepiece_library.h"

#include <sentencepiece_processor.h>

namespace trencadis::tokenizers {
namespace {

// ModelProto { normalizer_spec (3) { add_dummy_prefix (3): false } } in wire format. Appended to a
// serialised model it overrides that one field, as repeated protobuf messages merge.
constexpr std::string_view kNoDummyPrefix("\x1a\x02\x18\x00", 4);

class LibraryModel : public SentencePieceModel {
 public:
  sentencepiece::util::Status Load(std::string_view serialized) {
    return processor_.LoadFromSerializedProto(serialized);
  }

  int32_t size() const override { return processor_.GetPieceSize(); }
  std::vector<int32_t> Encode(std::string_view text) const override {
    return processor_.EncodeAsIds(text);
  }
  std::string Decode(const std::vector<std::string>& pieces) const override {
    return processor_.DecodePieces(pieces);
  }
  std::string Piece(int32_t id) const override { return processor_.IdToPiece(id); }
  std::optional<int32_t> Find(std::string_view piece) const override {
    const int32_t id = processor_.PieceToId(piece);
    // The library answers with the unknown piece for what it does not know.
    if (id < 0 || id >= size() || processor_.IdToPiece(id) != piece) return std::nullopt;
    return id;
  }
  int32_t bos_id() const override { return processor_.bos_id(); }
  int32_t eos_id() const override { return processor_.eos_id(); }
  int32_t pad_id() const override { return processor_.pad_id(); }
  int32_t unk_id() const override { return processor_.unk_id(); }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

std::unique_ptr<SentencePieceModel> ParseSentencePieceModel(std::string_view serialized,
                                                            bool keep_dummy_prefix,
                                                            std::string* error) {
  auto model = std::make_unique<LibraryModel>();
  std::string bytes(serialized);
  if (!keep_dummy_prefix) bytes += kNoDummyPrefix;
  const sentencepiece::util::Status status = model->Load(bytes);
  if (status.ok()) return model;
  *error = status.ToString();
  return nullptr;
}

}  // namespace trencadis::tokenizers
