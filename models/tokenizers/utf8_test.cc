#include "models/tokenizers/utf8.h"

#include <gtest/gtest.h>

namespace trencadis::tokenizers {
namespace {

TEST(Utf8Test, CharacterBytes) {
  EXPECT_EQ(CharacterBytes(""), 0u);
  EXPECT_EQ(CharacterBytes("ab"), 1u);
  EXPECT_EQ(CharacterBytes("é"), 2u);
  EXPECT_EQ(CharacterBytes("▁x"), 3u);
  EXPECT_EQ(CharacterBytes("😀"), 4u);
  EXPECT_EQ(CharacterBytes("\x80"), 0u);              // continuation
  EXPECT_EQ(CharacterBytes("\xc0\x80"), 0u);          // overlong
  EXPECT_EQ(CharacterBytes("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(CharacterBytes("\xf4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(CharacterBytes("\xe2\x96"), 0u);          // cut
}

TEST(Utf8Test, CheckNamesTheByte) {
  EXPECT_TRUE(CheckUtf8("añ▁😀").ok());
  EXPECT_TRUE(CheckUtf8(absl::string_view("\0", 1)).ok());
  EXPECT_EQ(CheckUtf8("añ\xff").message(), "the text is not UTF-8 at byte 3");
}

TEST(Utf8Test, ReplacesMaximalIllFormedParts) {
  EXPECT_EQ(ReplaceMalformed("a\xff"
                             "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ReplaceMalformed("\xf0\x9f\x98"), "\xef\xbf\xbd");           // one cut character
  EXPECT_EQ(ReplaceMalformed("\xe2\x96\xe2\x96\x81"), "\xef\xbf\xbd▁");  // cut, then whole
}

TEST(Utf8Test, StripsUnicodeSpace) {
  EXPECT_EQ(StripLeadingSpace(" \t\xc2\xa0\xe3\x80\x80x "), "x ");
  EXPECT_EQ(StripTrailingSpace(" x\n\xe2\x80\x83"), " x");
  EXPECT_EQ(StripLeadingSpace("  "), "");
  EXPECT_EQ(StripTrailingSpace("\n"), "");
}

}  // namespace
}  // namespace trencadis::tokenizers
