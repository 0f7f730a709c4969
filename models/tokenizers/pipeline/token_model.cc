#include "models/tokenizers/pipeline/token_model.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "models/tokenizers/pipeline/bpe_model.h"
#include "models/tokenizers/pipeline/unigram_model.h"
#include "models/tokenizers/pipeline/vocabulary.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using checkpoint::JsonFields;
using Json = nlohmann::json;

// A model whose tokens are those of a Vocabulary.
class VocabularyModel : public TokenModel {
 public:
  VocabularyModel(std::unique_ptr<Vocabulary> vocabulary, std::optional<int32_t> unk)
      : vocabulary_(std::move(vocabulary)), unk_(unk) {}

  int32_t size() const override { return vocabulary_->size(); }
  std::string TokenText(int32_t id) const override { return std::string(vocabulary_->Text(id)); }
  std::optional<int32_t> Find(absl::string_view token) const override {
    return vocabulary_->Find(token);
  }

 protected:
  void AppendUnknown(std::vector<int32_t>& ids) const {
    if (unk_) ids.push_back(*unk_);
  }

 private:
  std::unique_ptr<Vocabulary> vocabulary_;
  std::optional<int32_t> unk_;
};

class WordLevelModel : public VocabularyModel {
 public:
  using VocabularyModel::VocabularyModel;

  void Append(absl::string_view word, std::vector<int32_t>& ids) const override {
    const std::optional<int32_t> id = Find(word);
    return id ? ids.push_back(*id) : AppendUnknown(ids);
  }
};

// BERT's: the longest token that begins the word, then the longest with the prefix "##" that
// continues it, and so on; unknown as a whole where one is missing.
class WordPieceModel : public VocabularyModel {
 public:
  WordPieceModel(std::unique_ptr<Vocabulary> vocabulary, std::optional<int32_t> unk,
                 std::string prefix, int64_t max_characters)
      : VocabularyModel(std::move(vocabulary), unk),
        prefix_(std::move(prefix)),
        max_characters_(max_characters) {}

  void Append(absl::string_view word, std::vector<int32_t>& ids) const override {
    std::vector<size_t> ends;  // of the characters
    for (size_t at = 0; at < word.size();) {
      at += CharacterBytes(word.substr(at));
      ends.push_back(at);
    }
    if (static_cast<int64_t>(ends.size()) > max_characters_) return AppendUnknown(ids);
    std::vector<int32_t> pieces;
    for (size_t begin = 0; begin < word.size();) {
      std::optional<int32_t> id;
      for (auto end = ends.rbegin(); end != ends.rend() && *end > begin; ++end) {
        const absl::string_view piece = word.substr(begin, *end - begin);
        id = begin == 0 ? Find(piece) : Find(absl::StrCat(prefix_, piece));
        if (!id) continue;
        begin = *end;
        break;
      }
      if (!id) return AppendUnknown(ids);
      pieces.push_back(*id);
    }
    ids.insert(ids.end(), pieces.begin(), pieces.end());
  }

 private:
  std::string prefix_;
  int64_t max_characters_;
};

struct VocabularyAndUnk {
  std::unique_ptr<Vocabulary> vocabulary;
  std::optional<int32_t> unk;
};

absl::StatusOr<VocabularyAndUnk> ReadVocabulary(JsonFields& fields, std::string unk_token) {
  VocabularyAndUnk read;
  fields.String("unk_token", unk_token);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  TRENCADIS_ASSIGN_OR_RETURN(read.vocabulary, Vocabulary::Parse(fields.Take("vocab")));
  read.unk = read.vocabulary->Find(unk_token);
  return read;
}

absl::StatusOr<std::unique_ptr<TokenModel>> ParseWordPiece(JsonFields& fields) {
  std::string prefix = "##";
  int64_t max_characters = 100;
  fields.String("continuing_subword_prefix", prefix);
  fields.Int("max_input_chars_per_word", max_characters);
  TRENCADIS_ASSIGN_OR_RETURN(VocabularyAndUnk read, ReadVocabulary(fields, "[UNK]"));
  return std::make_unique<WordPieceModel>(std::move(read.vocabulary), read.unk, std::move(prefix),
                                          max_characters);
}

absl::StatusOr<std::unique_ptr<TokenModel>> ParseWordLevel(JsonFields& fields) {
  TRENCADIS_ASSIGN_OR_RETURN(VocabularyAndUnk read, ReadVocabulary(fields, "<unk>"));
  return std::make_unique<WordLevelModel>(std::move(read.vocabulary), read.unk);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenModel>> ParseTokenModel(const Json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError("\"model\" is not an object");
  JsonFields fields(json);
  std::string type = fields.Has("merges")                     ? "BPE"
                     : fields.Has("unk_id")                   ? "Unigram"
                     : fields.Has("max_input_chars_per_word") ? "WordPiece"
                                                              : "WordLevel";
  fields.String("type", type);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  if (type == "BPE") return ParseBpeModel(fields);
  if (type == "Unigram") return ParseUnigramModel(fields);
  if (type == "WordPiece") return ParseWordPiece(fields);
  if (type == "WordLevel") return ParseWordLevel(fields);
  return absl::UnimplementedError(absl::StrCat("the model '", type, "' is not known"));
}

}  // namespace trencadis::tokenizers::pipeline
