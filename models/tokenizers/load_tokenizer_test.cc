#include "models/tokenizers/load_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file.h"

namespace trencadis::tokenizers {
namespace {

using ::testing::HasSubstr;

constexpr char kData[] = "../shared_data/shared/data/";

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::unique_ptr<Tokenizer> Load(const std::string& path) {
  auto tokenizer = LoadTokenizer(path);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? std::move(*tokenizer) : nullptr;
}

// llama.cpp's own tests: texts separated by a marker line, and the ids of each on one line.
class LlamaCppGolden : public testing::TestWithParam<const char*> {};

TEST_P(LlamaCppGolden, IdsAreEqual) {
  const std::string path =
      absl::StrCat(kData, "tokenizers/gguf_vocab/ggml-vocab-", GetParam(), ".gguf");
  if (!RealFileSystem().Exists(path)) GTEST_SKIP() << "no shared data";
  const auto tokenizer = Load(path);
  ASSERT_NE(tokenizer, nullptr);
  const std::string input = ReadText(path + ".inp"), output = ReadText(path + ".out");
  const std::vector<std::string> texts = absl::StrSplit(input, "\n__ggml_vocab_test__\n");
  const std::vector<std::string> lines = absl::StrSplit(output, '\n');
  ASSERT_GT(texts.size(), 30u);
  ASSERT_GE(lines.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t> expected;
    for (absl::string_view id : absl::StrSplit(lines[i], ' ', absl::SkipEmpty())) {
      expected.push_back(std::stoi(std::string(id)));
    }
    const EncodeOptions options{.add_special_tokens = false, .parse_special_tokens = false};
    EXPECT_EQ(*tokenizer->Encode(texts[i], options), expected) << i << ": " << texts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, LlamaCppGolden,
                         testing::Values("llama-spm", "phi-3", "gpt-2"),
                         [](const auto& info) { return testing::PrintToString(info.index); });

TEST(LoadTokenizerTest, GgufAndSentencePieceFormsOfStoriesAgree) {
  const std::string llama = absl::StrCat(kData, "models/llama/");
  if (!RealFileSystem().Exists(llama)) GTEST_SKIP() << "no shared data";
  const auto hf = Load(llama + "stories260K_hf");
  const auto gguf = Load(llama + "stories260K_gguf/tinyllm.gguf");
  // The .model collapses runs of spaces, which a GGUF file cannot express: single spaces only.
  for (absl::string_view text : {"Once upon a time, there was a little girl named Lily.",
                                 "don't 1 22 é日本😀", "a\nb", "<s>hello</s>you", "<0x41>▁x"}) {
    const std::vector<int32_t> ids = *hf->Encode(text);
    EXPECT_EQ(*gguf->Encode(text), ids) << text;
    EXPECT_EQ(*gguf->Decode(ids), *hf->Decode(ids)) << text;
  }
  EXPECT_EQ(gguf->special_tokens().bos, hf->special_tokens().bos);
  EXPECT_EQ(gguf->special_tokens().eos, hf->special_tokens().eos);
}

TEST(LoadTokenizerTest, SaysWhatItCannotLoad) {
  const std::string directory = testing::TempDir() + "/tokenizer";
  ASSERT_TRUE(RealFileSystem().CreateDirectories(directory).ok());
  EXPECT_EQ(LoadTokenizer(directory + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(LoadTokenizer(directory).status().message(),
              HasSubstr("neither tokenizer.model nor tokenizer.json"));
  std::ofstream(directory + "/tokenizer.json") << "{}";
  EXPECT_THAT(LoadTokenizer(directory).status().message(),
              HasSubstr("tokenizer.json: \"model\" is not an object"));
  EXPECT_EQ(LoadTokenizer(directory + "/tokenizer.json").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(LoadTokenizerTest, RefusesDamagedModels) {
  const std::string malformed = absl::StrCat(kData, "malformed/tokenizers/");
  if (!RealFileSystem().Exists(malformed)) GTEST_SKIP() << "no shared data";
  for (const char* name : {"test_bpe_tokenizer.bin", "test_hf_tokenizer.json",
                           "test_llama2c_tokenizer.bin", "test_tiktoken_invalid_base64.model",
                           "test_tiktoken_invalid_rank.model", "test_tiktoken_no_space.model"}) {
    const absl::Status status = LoadTokenizer(malformed + name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(status.message(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace trencadis::tokenizers
