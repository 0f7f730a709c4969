#include "models/tokenizers/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis::tokenizers {
namespace {

using ::testing::ElementsAre;

// Parts as strings: tokens in brackets with their ids.
std::vector<std::string> Split(const AddedTokens& tokens, const std::string& text,
                               bool parse_special = true) {
  std::vector<std::string> shown;
  for (const TextPart& part : tokens.Split(text, parse_special)) {
    shown.push_back(part.id ? "[" + std::to_string(*part.id) + "]" : part.text);
  }
  return shown;
}

AddedTokens Tokens() {
  return AddedTokens({{1, {.content = "<s>", .special = true}},
                      {2, {.content = "<s>>", .special = true}},
                      {3, {.content = "word", .single_word = true}},
                      {4, {.content = "|l|", .lstrip = true}},
                      {5, {.content = "|r|", .rstrip = true}},
                      {6, {.content = ""}}});
}

TEST(AddedTokensTest, CutsLeftmostLongest) {
  const AddedTokens tokens = Tokens();
  EXPECT_THAT(Split(tokens, ""), ElementsAre());
  EXPECT_THAT(Split(tokens, "plain"), ElementsAre("plain"));
  EXPECT_THAT(Split(tokens, "<s>"), ElementsAre("[1]"));
  EXPECT_THAT(Split(tokens, "a<s>>b<s><s>"), ElementsAre("a", "[2]", "b", "[1]", "[1]"));
}

TEST(AddedTokensTest, LeavesSpecialTokensAloneOnRequest) {
  EXPECT_THAT(Split(Tokens(), "a<s> |r|b", false), ElementsAre("a<s> ", "[5]", "b"));
}

TEST(AddedTokensTest, StripsAndJoins) {
  const AddedTokens tokens = Tokens();
  EXPECT_THAT(Split(tokens, "a |l| b"), ElementsAre("a", "[4]", " b"));
  EXPECT_THAT(Split(tokens, "a |r| b"), ElementsAre("a ", "[5]", "b"));
  EXPECT_THAT(Split(tokens, "a word b"), ElementsAre("a ", "[3]", " b"));
  EXPECT_THAT(Split(tokens, "aword b"), ElementsAre("aword", " b"));
  EXPECT_THAT(Split(tokens, "a words"), ElementsAre("a ", "words"));
}

TEST(AddedTokensTest, FindsByContentAndId) {
  const AddedTokens tokens = Tokens();
  EXPECT_EQ(tokens.FindContent("<s>>"), 2);
  EXPECT_EQ(tokens.FindContent("<"), std::nullopt);
  EXPECT_EQ(tokens.Find(3)->content, "word");
  EXPECT_EQ(tokens.Find(9), nullptr);
}

}  // namespace
}  // namespace trencadis::tokenizers
