#include "models/tokenizers/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/checkpoint/gguf.h"
#include "models/checkpoint/gguf_builder.h"

namespace trencadis::tokenizers {
namespace {

using checkpoint::GgufBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Tokenizer>> Load(const GgufBuilder& builder) {
  const std::string path = testing::TempDir() + "/tokenizer.gguf";
  std::ofstream(path, std::ios::binary) << builder.Build();
  auto file = checkpoint::GgufFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return TokenizerFromGguf((*file)->metadata());
}

std::string Error(const GgufBuilder& builder) {
  return std::string(Load(builder).status().message());
}

GgufBuilder Model(const std::string& model) {
  return GgufBuilder().String("tokenizer.ggml.model", model);
}

GgufBuilder Llama() {
  return Model("llama")
      .Strings("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "▁", "a", "▁a"})
      .Floats("tokenizer.ggml.scores", {0, 0, 0, -1, -2, -3})
      .Ints("tokenizer.ggml.token_type", {2, 3, 3, 1, 1, 1})
      .U32("tokenizer.ggml.bos_token_id", 1)
      .U32("tokenizer.ggml.eos_token_id", 2);
}

TEST(GgufTokenizerTest, SentencePieceSettings) {
  auto plain = Load(Llama());
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_THAT(*(*plain)->Encode("a a</s>"), ElementsAre(1, 5, 5, 2));
  EXPECT_EQ((*plain)->special_tokens().unk, 0);
  EXPECT_EQ((*plain)->special_tokens().pad, std::nullopt);
  auto changed = Load(Llama()
                          .Bool("tokenizer.ggml.add_bos_token", false)
                          .Bool("tokenizer.ggml.add_eos_token", true)
                          .Bool("tokenizer.ggml.add_space_prefix", false));
  EXPECT_THAT(*(*changed)->Encode("a a"), ElementsAre(4, 5, 2));
}

TEST(GgufTokenizerTest, ByteLevelSettings) {
  auto tokenizer = Load(Model("gpt2")
                            .Strings("tokenizer.ggml.tokens", {"a", "b", "Ġ", "ab", "<|end|>"})
                            .Strings("tokenizer.ggml.merges", {"a b"})
                            .Ints("tokenizer.ggml.token_type", {1, 1, 1, 1, 3})
                            .U32("tokenizer.ggml.eos_token_id", 4));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(*(*tokenizer)->Encode("ab b<|end|>"), ElementsAre(3, 2, 1, 4));
  EXPECT_TRUE((*tokenizer)->IsSpecial(4));
}

TEST(GgufTokenizerTest, NamesWhatIsWrong) {
  EXPECT_THAT(Error(GgufBuilder()), HasSubstr("embeds no tokenizer"));
  EXPECT_THAT(Error(Model("t5")), HasSubstr("'t5'"));
  EXPECT_THAT(Error(Model("llama")), HasSubstr("tokens' is missing"));
  EXPECT_THAT(Error(Model("llama").Strings("tokenizer.ggml.tokens", {"a"})),
              HasSubstr("1 tokens but 0 scores"));
  EXPECT_THAT(Error(Model("llama")
                        .Strings("tokenizer.ggml.tokens", {"a"})
                        .Ints("tokenizer.ggml.token_type", {1, 1})),
              HasSubstr("2 token types"));
  EXPECT_THAT(Error(Model("llama")
                        .Strings("tokenizer.ggml.tokens", {"a"})
                        .Ints("tokenizer.ggml.token_type", {7})),
              HasSubstr("type 7"));
  EXPECT_THAT(Error(Model("llama").Strings("tokenizer.ggml.tokens", {"\xff"})),
              HasSubstr("not UTF-8"));
  EXPECT_THAT(Error(Model("gpt2")
                        .Strings("tokenizer.ggml.tokens", {"a"})
                        .String("tokenizer.ggml.pre", "mystery")),
              HasSubstr("'mystery'"));
}

}  // namespace
}  // namespace trencadis::tokenizers
