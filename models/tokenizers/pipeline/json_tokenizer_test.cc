#include "models/tokenizers/pipeline/json_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "models/tokenizers/pipeline/decoder.h"
#include "runtime/base/file.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kData[] = "../shared_data/shared/data/tokenizers/";

// Words by white space, whole words as tokens: the smallest file that the other parts can be hung
// on.
Json WordLevelFile() {
  return Json::parse(R"({
    "added_tokens": [
      {"id": 5, "content": "<s>", "special": true, "normalized": false},
      {"id": 6, "content": "</s>", "special": true, "normalized": false},
      {"id": 7, "content": "Two Words", "special": false, "normalized": true},
      {"id": 8, "content": "cut", "special": false, "normalized": false, "single_word": true}
    ],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {
      "type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "</s>", "type_id": 0}}],
      "pair": [],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [5], "tokens": ["<s>"]},
                         "</s>": {"id": "</s>", "ids": [6], "tokens": ["</s>"]}}
    },
    "decoder": null,
    "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "cut": 3}}
  })");
}

std::unique_ptr<Tokenizer> Make(const Json& json) {
  auto parts = ParseJsonTokenizer(json);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return std::make_unique<JsonTokenizer>(std::move(*parts));
}

std::string Error(const Json& json) {
  return std::string(ParseJsonTokenizer(json).status().message());
}

TEST(JsonTokenizerTest, RunsTheWholePipeline) {
  const auto tokenizer = Make(WordLevelFile());
  EXPECT_EQ(tokenizer->vocab_size(), 9);
  EXPECT_THAT(*tokenizer->Encode("A x <s>b"), ElementsAre(5, 1, 0, 5, 2, 6));
  EXPECT_THAT(*tokenizer->Encode("a", {.add_special_tokens = false}), ElementsAre(1));
  EXPECT_THAT(*tokenizer->Encode("<s>", {.parse_special_tokens = false}), ElementsAre(5, 0, 6));
  // A normalized token is found however the text writes it; a bounded one not inside a word.
  EXPECT_THAT(*tokenizer->Encode("TWO wordsA"), ElementsAre(5, 7, 1, 6));
  EXPECT_THAT(*tokenizer->Encode("a cut"), ElementsAre(5, 1, 8, 6));
  EXPECT_THAT(*tokenizer->Encode("acut"), ElementsAre(5, 0, 6));
  EXPECT_EQ(*tokenizer->Decode(std::vector<int32_t>{5, 1, 7, 6}), "<s> a Two Words </s>");
  EXPECT_EQ(*tokenizer->Decode(std::vector<int32_t>{5, 1, 7, 6}, {.skip_special_tokens = true}),
            "a Two Words");
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{9}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(tokenizer->Encode("\xff").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(JsonTokenizerTest, NamesWhatIsWrong) {
  const auto with = [](const char* key, const Json& value) {
    Json json = WordLevelFile();
    json[key] = value;
    return Error(json);
  };
  EXPECT_THAT(with("normalizer", {{"type", "Nope"}}), HasSubstr("normalizer 'Nope'"));
  EXPECT_THAT(with("pre_tokenizer", {{"type", "Nope"}}), HasSubstr("pre-tokenizer 'Nope'"));
  EXPECT_THAT(with("decoder", {{"type", "Nope"}}), HasSubstr("decoder 'Nope'"));
  EXPECT_THAT(with("post_processor", {{"type", "Nope"}}), HasSubstr("post-processor \"Nope\""));
  EXPECT_THAT(with("model", {{"type", "Nope"}}), HasSubstr("model 'Nope'"));
  EXPECT_THAT(with("model", 7), HasSubstr("\"model\" is not an object"));
  EXPECT_THAT(with("model", Json::parse(R"({"type":"WordLevel","vocab":{"a":0,"b":0}})")),
              HasSubstr("the same id 0"));
  EXPECT_THAT(with("model", Json::parse(R"({"type":"WordLevel","vocab":{"a":99999999}})")),
              HasSubstr("'a' has no id between"));
  EXPECT_THAT(with("model", Json::parse(R"({"type":"BPE","vocab":{"a":0},"merges":["a a"]})")),
              HasSubstr("merge 0"));
  EXPECT_THAT(with("model", Json::parse(R"({"type":"Unigram","vocab":[["a",0]],"unk_id":4})")),
              HasSubstr("\"unk_id\" is 4"));
  EXPECT_THAT(with("added_tokens", Json::parse(R"([{"id":-1,"content":"x"}])")),
              HasSubstr("token id -1"));
  EXPECT_THAT(
      with("pre_tokenizer",
           Json::parse(R"({"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"})")),
      HasSubstr("cannot be compiled"));
  EXPECT_THAT(
      with("post_processor",
           Json::parse(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}]})")),
      HasSubstr("names no special token"));
}

TEST(JsonTokenizerTest, RolesComeFromTheFilesBeside) {
  const std::string directory = testing::TempDir() + "/json_tokenizer";
  ASSERT_TRUE(RealFileSystem().CreateDirectories(directory).ok());
  std::ofstream(directory + "/tokenizer.json") << WordLevelFile();
  std::ofstream(directory + "/special_tokens_map.json")
      << R"({"unk_token": "?", "eos_token": "a"})";
  std::ofstream(directory + "/tokenizer_config.json")
      << R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}})";
  auto tokenizer = LoadJsonTokenizer(directory);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->special_tokens().bos, 5);
  EXPECT_EQ((*tokenizer)->special_tokens().eos, 6);
  EXPECT_EQ((*tokenizer)->special_tokens().unk, 0);
  EXPECT_EQ((*tokenizer)->special_tokens().pad, std::nullopt);
  EXPECT_TRUE((*tokenizer)->IsSpecial(0));
}

struct Golden {
  const char* name;
  const char* directory;
  bool clean_up = true;  // whether the recorded texts went through clean_up_tokenization
};

// Texts, ids and decoded texts that transformers.js's tests record for published tokenizers.
class PublishedTokenizer : public testing::TestWithParam<Golden> {};

TEST_P(PublishedTokenizer, IdsAndTextsAreEqual) {
  if (!RealFileSystem().Exists(kData)) GTEST_SKIP() << "no shared data";
  std::ifstream file(absl::StrCat(kData, "golden_swift_transformers/tokenizer_tests.json"));
  const Json cases = Json::parse(file)[GetParam().name];
  ASSERT_GT(cases.size(), 10u);
  auto tokenizer = LoadJsonTokenizer(absl::StrCat(kData, GetParam().directory));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  for (const Json& c : cases) {
    const std::string text = c["input"];
    const std::vector<int32_t> expected = c["encoded"]["input_ids"];
    EXPECT_EQ(*(*tokenizer)->Encode(text), expected) << text;
    const auto decode = [&](bool skip_special_tokens) {
      const std::string decoded =
          *(*tokenizer)->Decode(expected, {.skip_special_tokens = skip_special_tokens});
      return GetParam().clean_up ? CleanUpSpaces(decoded) : decoded;
    };
    EXPECT_EQ(decode(false), std::string(c["decoded_with_special"])) << text;
    EXPECT_EQ(decode(true), std::string(c["decoded_without_special"])) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PublishedTokenizer,
                         testing::Values(Golden{"google-bert/bert-base-uncased", "bert"},
                                         Golden{"distilgpt2", "gpt2"}, Golden{"t5-base", "t5"},
                                         Golden{"coreml-projects/Llama-2-7b-chat-coreml", "llama2",
                                                false}),
                         [](const auto& info) { return std::string(info.param.directory); });

}  // namespace
}  // namespace trencadis::tokenizers::pipeline
