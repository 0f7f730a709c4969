#include "models/tokenizers/save_tokenizer.h"

#include <gtest/gtest.h>

#include <memory>

#include "models/tokenizers/load_tokenizer.h"
#include "runtime/base/file.h"

namespace trencadis::tokenizers {
namespace {

constexpr char kModels[] = "../shared_data/shared/data/models/llama/";
constexpr const char* kTexts[] = {"Once upon a time, there was a girl named Lily.",
                                  "  two  spaces ", "naïve 日本語 🙂\n\ttabs", "",
                                  "</s> inside <s>"};

std::string NewDirectory(const char* name) {
  const std::string directory = JoinPath(testing::TempDir(), name);
  EXPECT_TRUE(RealFileSystem().CreateDirectories(directory).ok());
  return directory;
}

// Saves the tokenizer at `path` and compares what was saved with it.
void ExpectSavesEqual(const std::string& path, const char* name) {
  if (!RealFileSystem().Exists(path)) GTEST_SKIP() << path << " is not there";
  const std::string directory = NewDirectory(name);
  const absl::Status saved = SaveTokenizer(path, directory);
  ASSERT_TRUE(saved.ok()) << saved;
  const absl::StatusOr<std::unique_ptr<Tokenizer>> want = LoadTokenizer(path);
  const absl::StatusOr<std::unique_ptr<Tokenizer>> got = LoadTokenizer(directory);
  ASSERT_TRUE(want.ok()) << want.status();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->vocab_size(), (*want)->vocab_size());
  EXPECT_EQ((*got)->special_tokens().eos, (*want)->special_tokens().eos);
  for (const char* text : kTexts) {
    const auto ids = (*want)->Encode(text);
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ(*(*got)->Encode(text), *ids) << text;
    EXPECT_EQ(*(*got)->Decode(*ids), *(*want)->Decode(*ids)) << text;
  }
}

TEST(SaveTokenizerTest, GgufVocabularyBecomesASentencePieceModel) {
  ExpectSavesEqual(std::string(kModels) + "stories260K_gguf/tinyllm.gguf", "gguf");
}

TEST(SaveTokenizerTest, ByteLevelVocabularyBecomesJson) {
  ExpectSavesEqual("../shared_data/shared/data/tokenizers/gguf_vocab/ggml-vocab-gpt-2.gguf",
                   "byte_level");
}

TEST(SaveTokenizerTest, DirectoryIsCopied) {
  ExpectSavesEqual(std::string(kModels) + "stories260K_hf", "hf");
}

TEST(SaveTokenizerTest, ModelFileIsCopied) {
  ExpectSavesEqual(std::string(kModels) + "stories260K_hf/tokenizer.model", "file");
}

}  // namespace
}  // namespace trencadis::tokenizers
