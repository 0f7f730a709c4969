#include "models/tokenizers/score_bpe_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "models/checkpoint/gguf.h"
#include "models/tokenizers/sentencepiece_library.h"
#include "runtime/base/file.h"
#include "runtime/base/mapped_file.h"

namespace trencadis::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<ScoredPiece> SmallVocabulary(bool with_bytes) {
  std::vector<ScoredPiece> pieces = {
      {"<unk>", 0, PieceType::kUnknown}, {"<s>", 0, PieceType::kControl},
      {"▁", -5, PieceType::kNormal},     {"a", -6, PieceType::kNormal},
      {"b", -7, PieceType::kNormal},     {"ab", -2, PieceType::kNormal},
      {"ba", -1, PieceType::kUnused},    {"<x>", 0, PieceType::kUserDefined}};
  for (int byte = 0; with_bytes && byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", byte);
    pieces.push_back({text, 0, PieceType::kByte});
  }
  return pieces;
}

std::unique_ptr<ScoreBpeModel> Small(bool with_bytes = false, ScoreBpeOptions options = {}) {
  return *ScoreBpeModel::Create(SmallVocabulary(with_bytes), options);
}

TEST(ScoreBpeModelTest, MergesTheBestScoreFirst) {
  const auto model = Small();
  EXPECT_THAT(model->Encode(""), ElementsAre());
  EXPECT_THAT(model->Encode("ab"), ElementsAre(2, 5));
  // "ba" scores higher than "ab", and being unused is taken apart again.
  EXPECT_THAT(model->Encode("aba"), ElementsAre(2, 3, 4, 3));
  EXPECT_THAT(Small(false, {.add_dummy_prefix = false})->Encode("ab b"), ElementsAre(5, 2, 4));
}

TEST(ScoreBpeModelTest, UserDefinedPiecesStandWhole) {
  EXPECT_THAT(Small()->Encode("a<x>b"), ElementsAre(2, 3, 7, 4));
}

TEST(ScoreBpeModelTest, UnknownCharactersFallBack) {
  EXPECT_THAT(Small(false)->Encode("aéé"), ElementsAre(2, 3, 0));
  EXPECT_THAT(Small(true)->Encode("é"), ElementsAre(2, 8 + 0xc3, 8 + 0xa9));
}

TEST(ScoreBpeModelTest, Decodes) {
  const auto model = Small(true);
  EXPECT_EQ(model->Decode({"▁", "ab", "▁", "b"}), "ab b");
  EXPECT_EQ(model->Decode({"<s>", "▁", "a", "<unk>", "zz"}), "a \xe2\x81\x87 zz");
  EXPECT_EQ(model->Decode({"<0xC3>", "<0xA9>", "<0xC3>", "a"}),
            "é\xef\xbf\xbd"
            "a");
}

TEST(ScoreBpeModelTest, RefusesDamagedVocabularies) {
  const auto create = [](std::vector<ScoredPiece> pieces) {
    return std::string(ScoreBpeModel::Create(std::move(pieces), {}).status().message());
  };
  EXPECT_THAT(create({{"a", 0, PieceType::kNormal}}), HasSubstr("unknown piece"));
  EXPECT_THAT(create({{"u", 0, PieceType::kUnknown}, {"v", 0, PieceType::kUnknown}}),
              HasSubstr("both"));
  EXPECT_THAT(create({{"a", 0, PieceType::kNormal}, {"a", 0, PieceType::kNormal}}),
              HasSubstr("twice"));
  EXPECT_THAT(create({{"<0xZZ>", 0, PieceType::kByte}}), HasSubstr("marked as a byte"));
}

// The same vocabulary by the SentencePiece library and by ours.
class LibraryComparison : public testing::Test {
 protected:
  void SetUp() override {
    const std::string llama = "../shared_data/shared/data/models/llama/";
    if (!RealFileSystem().Exists(llama)) GTEST_SKIP() << "no shared data";
    auto file = MappedFile::Open(llama + "stories260K_hf/tokenizer.model");
    ASSERT_TRUE(file.ok()) << file.status();
    std::string error;
    // ModelProto { normalizer_spec (3) { remove_extra_whitespaces (4): false } }: the GGUF form of
    // a model cannot say that it collapses spaces, and Llama's do not.
    const std::string serialized = std::string(file->text()) + std::string("\x1a\x02\x20\x00", 4);
    library_ = ParseSentencePieceModel(serialized, true, &error);
    ASSERT_NE(library_, nullptr) << error;
    auto gguf = checkpoint::GgufFile::Open(llama + "stories260K_gguf/tinyllm.gguf");
    ASSERT_TRUE(gguf.ok()) << gguf.status();
    std::vector<absl::string_view> tokens;
    std::vector<float> scores;
    std::vector<int64_t> types;
    const checkpoint::GgufMetadata& metadata = (*gguf)->metadata();
    ASSERT_TRUE(metadata.Strings("tokenizer.ggml.tokens", tokens).ok());
    ASSERT_TRUE(metadata.Numbers("tokenizer.ggml.scores", scores).ok());
    ASSERT_TRUE(metadata.Ints("tokenizer.ggml.token_type", types).ok());
    std::vector<ScoredPiece> pieces;
    for (size_t i = 0; i < tokens.size(); ++i) {
      pieces.push_back({std::string(tokens[i]), scores[i], static_cast<PieceType>(types[i])});
    }
    ours_ = *ScoreBpeModel::Create(std::move(pieces), {});
  }

  std::unique_ptr<SentencePieceModel> library_;
  std::unique_ptr<ScoreBpeModel> ours_;
  std::mt19937 random_{1};
};

TEST_F(LibraryComparison, EncodesRandomTextEqually) {
  const std::vector<std::string> parts = {
      " ",   "  ",   "\n",   "\t",    "a",      "e",         "t",        "he",          "ing",
      "the", "and ", "Lily", "é",     "ß",      "日",        "本",       "😀",           "\xcc\x81",
      "▁",   "<s>",  "</s>", "<unk>", "<0x41>", ".",         ",",        "!",           "\"",
      "'",   "0",    "12",   "QX",    "zz",     "once upon", "\xc2\xa0", "\xef\xbb\xbf"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int n = random_() % 24; n > 0; --n) text += parts[random_() % parts.size()];
    ASSERT_EQ(ours_->Encode(text), library_->Encode(text)) << text;
  }
}

TEST_F(LibraryComparison, DecodesRandomPiecesEqually) {
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> pieces;
    for (int n = random_() % 12; n > 0; --n) {
      pieces.push_back(random_() % 8 == 0 ? "▁" : ours_->Piece(random_() % ours_->size()));
      if (random_() % 16 == 0) pieces.back() = pieces.back().substr(0, 3);
      if (random_() % 32 == 0) pieces.back() = "";
      // This model's own text for the unknown piece is escaped by mistake.
      if (pieces.back() == "<unk>") pieces.pop_back();
    }
    ASSERT_EQ(ours_->Decode(pieces), library_->Decode(pieces)) << testing::PrintToString(pieces);
  }
}

}  // namespace
}  // namespace trencadis::tokenizers
