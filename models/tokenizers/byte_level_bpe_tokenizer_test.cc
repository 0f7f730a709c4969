#include "models/tokenizers/byte_level_bpe_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/tokenizers/byte_level.h"

namespace trencadis::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Ids 0..255 are the bytes; then merges' results; last a special token and an added one.
absl::StatusOr<std::unique_ptr<Tokenizer>> Make(const std::vector<absl::string_view>& merges,
                                                bool ignore_merges = false) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(CharacterOfByte(byte));
  for (const char* token : {"he", "ll", "hell", "hello", "Ġhe", "<|end|>", "a b"}) {
    tokens.push_back(token);
  }
  ByteLevelBpeOptions options;
  options.add_bos = true;
  options.ignore_merges = ignore_merges;
  options.special.bos = options.special.eos = 261;
  options.added =
      AddedTokens({{261, {.content = "<|end|>", .special = true}}, {262, {.content = "a b"}}});
  return ByteLevelBpeTokenizer::Create(std::move(tokens), merges, *PreTokenizer::ForName("gpt-2"),
                                       std::move(options));
}

TEST(ByteLevelTest, MapsBytesAsGpt2Does) {
  EXPECT_EQ(CharacterOfByte(' '), "Ġ");
  EXPECT_EQ(CharacterOfByte('\n'), "Ċ");
  EXPECT_EQ(CharacterOfByte('a'), "a");
  EXPECT_EQ(CharacterOfByte(0xad), "Ń");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(FromByteLevel(ToByteLevel(all)), all);
  EXPECT_EQ(FromByteLevel("a b"), std::nullopt);
}

TEST(ByteLevelBpeTest, MergesByRank) {
  auto tokenizer = Make({"h e", "l l", "he ll", "hell o", "Ġ he"});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const EncodeOptions bare{.add_special_tokens = false};
  EXPECT_THAT(*(*tokenizer)->Encode("hello he", bare), ElementsAre(259, 260));
  EXPECT_THAT(*(*tokenizer)->Encode("hello<|end|>a b"), ElementsAre(261, 259, 261, 262));
  EXPECT_THAT(*(*tokenizer)->Encode("<|e", {.parse_special_tokens = false}),
              ElementsAre(261, '<', '|', 'e'));
  EXPECT_EQ((*tokenizer)->Encode("\xff").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ByteLevelBpeTest, WholeWordsMayIgnoreMerges) {
  const EncodeOptions bare{.add_special_tokens = false};
  EXPECT_THAT(*(*Make({}))->Encode("he", bare), ElementsAre('h', 'e'));
  EXPECT_THAT(*(*Make({}, true))->Encode("he", bare), ElementsAre(256));
}

TEST(ByteLevelBpeTest, DecodesBytesAndAddedTokens) {
  auto tokenizer = *Make({});
  const std::vector<int32_t> ids = {261, 259, ' ', 262, 0xf0, 0x9f, 0x98, 0x80, 0xf0};
  EXPECT_EQ(*tokenizer->Decode(ids), "<|end|>hello a b😀\xef\xbf\xbd");
  EXPECT_EQ(*tokenizer->Decode(ids, {.skip_special_tokens = true}), "hello a b😀\xef\xbf\xbd");
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{263}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{-1}).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(ByteLevelBpeTest, StreamsWholeCharacters) {
  auto tokenizer = *Make({});
  StreamingDecoder decoder(*tokenizer);
  std::vector<std::string> texts;
  for (int32_t id : {259, 0xf0, 0x9f, 0x98, 0x80, 0xf0, 261, 0xe2}) {
    texts.push_back(*decoder.Append(id));
  }
  texts.push_back(*decoder.Finish());
  EXPECT_THAT(texts,
              ElementsAre("hello", "", "", "", "😀", "", "\xef\xbf\xbd<|end|>", "", "\xef\xbf\xbd"));
}

TEST(ByteLevelBpeTest, RefusesMergesWithoutTokens) {
  EXPECT_THAT(Make({"q z"}).status().message(), HasSubstr("'q z'"));
  EXPECT_THAT(Make({"qz"}).status().message(), HasSubstr("not two tokens"));
  EXPECT_FALSE(Make({""}).ok());
}

}  // namespace
}  // namespace trencadis::tokenizers
