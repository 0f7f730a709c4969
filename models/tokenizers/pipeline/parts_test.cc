// Each part of a tokenizer.json by itself, on texts that show what is particular to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/tokenizers/pipeline/decoder.h"
#include "models/tokenizers/pipeline/normalizer.h"
#include "models/tokenizers/pipeline/text_pattern.h"
#include "models/tokenizers/pipeline/token_model.h"
#include "models/tokenizers/pipeline/word_splitter.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

std::string Normalize(const std::string& json, const std::string& text) {
  auto normalizer = ParseNormalizer(Json::parse(json));
  EXPECT_TRUE(normalizer.ok()) << normalizer.status();
  return *(*normalizer)->Apply(text);
}

TEST(NormalizerTest, UnicodeForms) {
  EXPECT_EQ(Normalize(R"({"type":"NFC"})", "e\u0301"), "é");
  EXPECT_EQ(Normalize(R"({"type":"NFD"})", "é"), "e\u0301");
  EXPECT_EQ(Normalize(R"({"type":"NFKC"})", "ﬁ①"), "fi1");
  EXPECT_EQ(Normalize(R"({"type":"NFKD"})", "é²"), "e\u03012");
}

TEST(NormalizerTest, Letters) {
  EXPECT_EQ(Normalize(R"({"type":"Lowercase"})", "ÀΣ"), "àσ");
  EXPECT_EQ(Normalize(R"({"type":"StripAccents"})", "e\u0301x"), "ex");
  EXPECT_EQ(
      Normalize(R"({"type":"BertNormalizer","strip_accents":null,"lowercase":true})", "É日\tx\x01"),
      "e 日  x");
  EXPECT_EQ(Normalize(R"({"type":"BertNormalizer","lowercase":false})", "Éa"), "Éa");
}

TEST(NormalizerTest, Edits) {
  EXPECT_EQ(Normalize(R"({"type":"Strip","strip_left":true,"strip_right":false})", " a "), "a ");
  EXPECT_EQ(Normalize(R"({"type":"Prepend","prepend":"▁"})", "a"), "▁a");
  EXPECT_EQ(Normalize(R"({"type":"Prepend","prepend":"▁"})", ""), "");
  EXPECT_EQ(Normalize(R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})", " a b"),
            "▁a▁b");
  EXPECT_EQ(Normalize(R"({"type":"Replace","pattern":{"Regex":" +"},"content":" "})", "a   b"),
            "a b");
  EXPECT_EQ(
      Normalize(R"({"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"}]})",
                "é"),
      "e");
}

std::vector<std::string> Split(const std::string& json, const std::string& text) {
  auto splitter = ParseWordSplitter(Json::parse(json));
  EXPECT_TRUE(splitter.ok()) << splitter.status();
  const auto words = (*splitter)->Apply({{text, true}});
  EXPECT_TRUE(words.ok()) << words.status();
  std::vector<std::string> texts;
  for (const Word& word : *words) texts.push_back(word.text);
  return texts;
}

TEST(WordSplitterTest, Behaviors) {
  const auto with = [](const std::string& behavior) {
    return Split(R"({"type":"Split","pattern":{"String":"-"},"behavior":")" + behavior + "\"}",
                 "a--b-");
  };
  EXPECT_THAT(with("Removed"), ElementsAre("a", "b"));
  EXPECT_THAT(with("Isolated"), ElementsAre("a", "-", "-", "b", "-"));
  EXPECT_THAT(with("MergedWithPrevious"), ElementsAre("a-", "-", "b-"));
  EXPECT_THAT(with("MergedWithNext"), ElementsAre("a", "-", "-b", "-"));
  EXPECT_THAT(with("Contiguous"), ElementsAre("a", "--", "b", "-"));
  EXPECT_THAT(
      Split(R"({"type":"Split","pattern":{"Regex":"\\d+"},"behavior":"Removed","invert":true})",
            "a12b3"),
      ElementsAre("12", "3"));
}

TEST(WordSplitterTest, Kinds) {
  EXPECT_THAT(Split(R"({"type":"Whitespace"})", "a_b, c"), ElementsAre("a_b", ",", "c"));
  EXPECT_THAT(Split(R"({"type":"WhitespaceSplit"})", " a,\tb "), ElementsAre("a,", "b"));
  EXPECT_THAT(Split(R"({"type":"BertPreTokenizer"})", "a b$c!"),
              ElementsAre("a", "b", "$", "c", "!"));
  EXPECT_THAT(Split(R"({"type":"Punctuation","behavior":"Contiguous"})", "a!?b"),
              ElementsAre("a", "!?", "b"));
  EXPECT_THAT(Split(R"({"type":"Digits","individual_digits":true})", "a12"),
              ElementsAre("a", "1", "2"));
  EXPECT_THAT(Split(R"({"type":"Digits","individual_digits":false})", "a12"),
              ElementsAre("a", "12"));
  EXPECT_THAT(Split(R"({"type":"CharDelimiterSplit","delimiter":"-"})", "a-b"),
              ElementsAre("a", "b"));
  EXPECT_THAT(Split(R"({"type":"ByteLevel","add_prefix_space":true})", "a é"),
              ElementsAre("Ġa", "ĠÃ©"));
  EXPECT_THAT(Split(R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})", "a b"),
              ElementsAre("aĠb"));
  EXPECT_THAT(Split(R"({"type":"Metaspace"})", "a  b"), ElementsAre("▁a", "▁", "▁b"));
  EXPECT_THAT(Split(R"({"type":"Metaspace","prepend_scheme":"never","split":false})", "a b"),
              ElementsAre("a▁b"));
}

TEST(WordSplitterTest, MetaspaceMayPrependAtTheStartOnly) {
  auto splitter =
      *ParseWordSplitter(Json::parse(R"({"type":"Metaspace","prepend_scheme":"first"})"));
  const std::vector<Word> words = *splitter->Apply({{"a", true}, {"b", false}});
  EXPECT_EQ(words[0].text, "▁a");
  EXPECT_EQ(words[1].text, "b");
}

std::vector<int32_t> Ids(const std::string& json, const std::string& word) {
  auto model = ParseTokenModel(Json::parse(json));
  EXPECT_TRUE(model.ok()) << model.status();
  std::vector<int32_t> ids;
  (*model)->Append(word, ids);
  return ids;
}

TEST(TokenModelTest, Bpe) {
  const std::string merges = R"("merges":["a b",["ab","c"]]})";
  const std::string vocab =
      R"({"type":"BPE","unk_token":"?","vocab":{"?":0,"a":1,"b":2,"c":3,"ab":4,"abc":5,"<0xC3>":6,
          "<0xA9>":7,"whole":8},)";
  EXPECT_THAT(Ids(vocab + merges, "abcab"), ElementsAre(5, 4));
  EXPECT_THAT(Ids(vocab + merges, "éé"), ElementsAre(0, 0));
  EXPECT_THAT(Ids(vocab + R"("fuse_unk":true,)" + merges, "aéé"), ElementsAre(1, 0));
  EXPECT_THAT(Ids(vocab + R"("byte_fallback":true,)" + merges, "éñ"), ElementsAre(6, 7, 0));
  EXPECT_THAT(Ids(vocab + R"("ignore_merges":true,)" + merges, "whole"), ElementsAre(8));
}

TEST(TokenModelTest, BpeMarksPlaces) {
  EXPECT_THAT(Ids(R"({"type":"BPE","end_of_word_suffix":"</w>","continuing_subword_prefix":null,
                      "vocab":{"a":0,"b</w>":1,"ab</w>":2},"merges":["a b</w>"]})",
                  "ab"),
              ElementsAre(2));
  EXPECT_THAT(Ids(R"({"type":"BPE","continuing_subword_prefix":"##",
                      "vocab":{"a":0,"##b":1,"ab":2},"merges":["a ##b"]})",
                  "ab"),
              ElementsAre(2));
}

TEST(TokenModelTest, WordPiece) {
  const std::string model =
      R"({"type":"WordPiece","unk_token":"[UNK]","max_input_chars_per_word":5,
          "vocab":{"[UNK]":0,"un":1,"##able":2,"##a":3,"una":4}})";
  EXPECT_THAT(Ids(model, "una"), ElementsAre(4));
  EXPECT_THAT(Ids(model, "unaa"), ElementsAre(4, 3));
  EXPECT_THAT(Ids(model, "unx"), ElementsAre(0));
  EXPECT_THAT(Ids(model, "unable"), ElementsAre(0));  // six characters
}

TEST(TokenModelTest, Unigram) {
  const std::string model =
      R"({"type":"Unigram","unk_id":0,"vocab":[["?",0],["a",-2],["b",-2],["ab",-3],["abb",-9]]})";
  EXPECT_THAT(Ids(model, "abb"), ElementsAre(3, 2));
  EXPECT_THAT(Ids(model, "aéñb"), ElementsAre(1, 0, 2));
}

std::string Decode(const std::string& json, const std::vector<std::string>& tokens) {
  auto decoder = ParseDecoder(Json::parse(json));
  EXPECT_TRUE(decoder.ok()) << decoder.status();
  std::string text;
  for (const std::string& piece : (*decoder)->Apply(tokens)) text += piece;
  return text;
}

TEST(DecoderTest, Kinds) {
  EXPECT_EQ(Decode(R"({"type":"ByteLevel"})", {"Ġa", "Ã", "©", "Ã"}), " aé\xef\xbf\xbd");
  EXPECT_EQ(Decode(R"({"type":"Metaspace"})", {"▁a", "▁b"}), "a b");
  EXPECT_EQ(Decode(R"({"type":"Metaspace","prepend_scheme":"never"})", {"▁a"}), " a");
  EXPECT_EQ(Decode(R"({"type":"WordPiece"})", {"a", "##b", "c", "."}), "ab c.");
  EXPECT_EQ(Decode(R"({"type":"WordPiece","cleanup":false})", {"a", "."}), "a .");
  EXPECT_EQ(Decode(R"({"type":"BPEDecoder"})", {"a", "b</w>", "c</w>"}), "ab c");
  EXPECT_EQ(Decode(R"({"type":"ByteFallback"})", {"a", "<0xC3>", "<0xA9>", "b"}), "aéb");
  // One bad byte spoils its run.
  EXPECT_EQ(Decode(R"({"type":"ByteFallback"})", {"<0xC3>", "<0xA9>", "<0xC3>"}),
            "\ufffd\ufffd\ufffd");
  EXPECT_EQ(Decode(R"({"type":"Sequence","decoders":[
                {"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"Fuse"},
                {"type":"Strip","content":" ","start":1,"stop":0}]})",
                   {"▁a", "▁b"}),
            "a b");
}

TEST(DecoderTest, CleansUpEnglishSpacing) {
  EXPECT_EQ(CleanUpSpaces("do n't , I 'm here . ' x '"), "don't, I'm here.'x '");
}

}  // namespace
}  // namespace trencadis::tokenizers::pipeline
