#include "models/tokenizers/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Split(const std::string& name, const std::string& text) {
  auto pre_tokenizer = PreTokenizer::ForName(name);
  EXPECT_TRUE(pre_tokenizer.ok()) << pre_tokenizer.status();
  auto words = (*pre_tokenizer)->Split(text);
  EXPECT_TRUE(words.ok()) << words.status();
  return {words->begin(), words->end()};
}

TEST(PreTokenizerTest, Gpt2) {
  EXPECT_THAT(Split("gpt-2", ""), ElementsAre());
  EXPECT_THAT(Split("gpt-2", "I've 123 cats!?\n\n  x  "),
              ElementsAre("I", "'ve", " 123", " cats", "!?", "\n\n ", " x", "  "));
  EXPECT_THAT(Split("gpt-2", "añ😀 日本"), ElementsAre("añ", "😀", " 日本"));
  // U+000B and U+0085 are white space too.
  EXPECT_THAT(Split("gpt-2", "a\v\xc2\x85 b"), ElementsAre("a", "\v\xc2\x85", " b"));
}

TEST(PreTokenizerTest, SmollmCutsDigitsFirst) {
  EXPECT_THAT(Split("smollm", "a 12  3b"), ElementsAre("a", " ", "1", "2", "  ", "3", "b"));
}

TEST(PreTokenizerTest, Llama3TakesDigitsByThreesAndFoldsCase) {
  EXPECT_THAT(Split("llama-bpe", "IT'S 12345.\n (x)"),
              ElementsAre("IT", "'S", " ", "123", "45", ".\n", " (", "x", ")"));
}

TEST(PreTokenizerTest, UnknownNamesAreRefused) {
  EXPECT_THAT(PreTokenizer::ForName("viking").status().message(), HasSubstr("'viking'"));
}

TEST(PreTokenizerTest, LongRunsNeedNoDeepStack) {
  const std::string letters(3 << 20, 'a'), spaces(3 << 20, ' ');
  EXPECT_EQ(Split("gpt-2", letters).size(), 1u);
  EXPECT_EQ(Split("llama-bpe", spaces + "a").size(), 2u);
}

}  // namespace
}  // namespace trencadis::tokenizers
