#include "models/tokenizers/llama_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "runtime/base/file.h"

namespace trencadis::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kStories[] = "../shared_data/shared/data/models/llama/stories260K_hf/";

class LlamaTokenizerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RealFileSystem().Exists(kStories)) GTEST_SKIP() << "no shared data";
  }

  std::unique_ptr<Tokenizer> Load(const std::string& directory = "") {
    auto tokenizer = LoadLlamaTokenizer(std::string(kStories) + "tokenizer.model", directory);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    return std::move(*tokenizer);
  }

  // A directory with these files beside a tokenizer.
  std::string Directory(const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& files) {
    const std::string path = testing::TempDir() + "/" + name;
    EXPECT_TRUE(RemoveRecursively(path).ok());
    EXPECT_TRUE(RealFileSystem().CreateDirectories(path).ok());
    for (const auto& [file, text] : files) std::ofstream(JoinPath(path, file)) << text;
    return path;
  }
};

TEST_F(LlamaTokenizerTest, EqualsTransformersOnGoldenTexts) {
  std::ifstream golden("tests/golden/sentencepiece_ids.json");
  const nlohmann::json cases = nlohmann::json::parse(golden);
  ASSERT_GT(cases.size(), 50u);
  const auto tokenizer = Load();
  for (const auto& c : cases) {
    const std::string text = c["text"];
    EXPECT_EQ(*tokenizer->Encode(text), c["llama"].get<std::vector<int32_t>>()) << text;
    const EncodeOptions bare{.add_special_tokens = false, .parse_special_tokens = false};
    EXPECT_EQ(*tokenizer->Encode(text, bare), c["sentencepiece"].get<std::vector<int32_t>>())
        << text;
  }
}

TEST_F(LlamaTokenizerTest, DecodesAsTransformersDoes) {
  const auto tokenizer = Load();
  const std::vector<int32_t> ids = *tokenizer->Encode("hello</s> you");
  // The stray space before "hello" is LlamaTokenizer's.
  EXPECT_EQ(*tokenizer->Decode(ids), "<s> hello</s>you");
  EXPECT_EQ(*tokenizer->Decode(ids, {.skip_special_tokens = true}), "hello you");
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{512}).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(LlamaTokenizerTest, KnowsItsSpecialTokens) {
  const auto tokenizer = Load();
  EXPECT_EQ(tokenizer->vocab_size(), 512);
  EXPECT_EQ(tokenizer->special_tokens().bos, 1);
  EXPECT_EQ(tokenizer->special_tokens().eos, 2);
  EXPECT_EQ(tokenizer->special_tokens().unk, 0);
  EXPECT_EQ(tokenizer->special_tokens().pad, std::nullopt);
  EXPECT_TRUE(tokenizer->IsSpecial(2));
  EXPECT_FALSE(tokenizer->IsSpecial(3));
  EXPECT_EQ(tokenizer->FindToken("</s>"), 2);
  EXPECT_EQ(tokenizer->TokenText(13), "<0x0A>");
  EXPECT_EQ(tokenizer->TokenText(512), "");
}

TEST_F(LlamaTokenizerTest, ReadsTheFilesBesideTheModel) {
  const auto tokenizer = Load(Directory(
      "configured",
      {{"tokenizer_config.json",
        R"({"add_bos_token":false,"add_eos_token":true,"pad_token":"<pad>","tokenizer_class":
            "LlamaTokenizer","bos_token":{"content":"<s>","__type":"AddedToken"},
            "added_tokens_decoder":{"513":{"content":"<|im|>","special":true}}})"},
       {"added_tokens.json", R"({"<pad>":512,"<plus>":514})"}}));
  EXPECT_EQ(tokenizer->vocab_size(), 515);
  EXPECT_EQ(tokenizer->special_tokens().pad, 512);
  const std::vector<int32_t> a = *tokenizer->Encode("a", {.add_special_tokens = false});
  std::vector<int32_t> expected = a;
  expected.insert(expected.end(), {513, 514, 2});
  EXPECT_EQ(*tokenizer->Encode("a<|im|><plus>"), expected);
  EXPECT_EQ(*tokenizer->Decode(expected, {.skip_special_tokens = true}), "a <plus>");
}

TEST_F(LlamaTokenizerTest, NonLegacyPutsOneSpaceOnly) {
  const auto tokenizer =
      Load(Directory("plain", {{"tokenizer_config.json", R"({"legacy":false})"}}));
  const auto legacy = Load();
  EXPECT_EQ(*tokenizer->Encode("the cat"), *legacy->Encode("the cat"));
  const std::vector<int32_t> ids = *tokenizer->Encode("</s>the");
  std::string joined;
  for (int32_t id : ids) joined += tokenizer->TokenText(id);
  EXPECT_EQ(joined, "<s></s>the");
}

TEST_F(LlamaTokenizerTest, NamesWhatIsWrong) {
  const auto error = [&](const std::string& config) {
    return std::string(LoadLlamaTokenizer(std::string(kStories) + "tokenizer.model",
                                          Directory("wrong", {{"tokenizer_config.json", config}}))
                           .status()
                           .message());
  };
  EXPECT_THAT(error("{"), HasSubstr("tokenizer_config.json: not JSON"));
  EXPECT_THAT(error(R"({"tokenizer_class":"GemmaTokenizer"})"), HasSubstr("'GemmaTokenizer'"));
  EXPECT_THAT(error(R"({"bos_token":7})"), HasSubstr("\"bos_token\" is 7"));
  EXPECT_THAT(error(R"({"add_bos_token":"yes"})"), HasSubstr("\"add_bos_token\""));
  EXPECT_THAT(error(R"({"added_tokens_decoder":{"9999999999":{"content":"x"}}})"),
              HasSubstr("9999999999"));
  EXPECT_THAT(
      LoadLlamaTokenizer(Directory("x", {{"m.model", "junk"}}) + "/m.model", "").status().message(),
      HasSubstr("not a SentencePiece model"));
}

// Joined pieces of any stream are the text of the whole, each piece being whole characters.
TEST_F(LlamaTokenizerTest, StreamsWhatDecodeGives) {
  const auto tokenizer = Load();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int32_t> ids;
    for (int n = random() % 12; n > 0; --n) {
      ids.push_back(random() % 3 == 0 ? 3 + random() % 256 : random() % 512);
    }
    const DecodeOptions options{.skip_special_tokens = true};
    StreamingDecoder decoder(*tokenizer, options);
    std::string joined;
    for (int32_t id : ids) joined += *decoder.Append(id);
    joined += *decoder.Finish();
    ASSERT_EQ(joined, *tokenizer->Decode(ids, options)) << testing::PrintToString(ids);
  }
}

}  // namespace
}  // namespace trencadis::tokenizers
