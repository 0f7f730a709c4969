#include "api/schema/value_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using testing::Basics;

const google::protobuf::FieldDescriptor* Field(const char* name) {
  return Basics::descriptor()->FindFieldByName(name);
}

TEST(ParseBoolTest, TakesTheWordsOfTransformers) {
  for (const char* word : {"True", "true", "TRUE", "t", "yes", "Y", "1"}) {
    EXPECT_EQ(ParseBool(word), true) << word;
  }
  for (const char* word : {"False", "false", "F", "no", "n", "0"}) {
    EXPECT_EQ(ParseBool(word), false) << word;
  }
  for (const char* word : {"", "on", "2", "truee", "None"}) {
    EXPECT_EQ(ParseBool(word), std::nullopt) << word;
  }
}

TEST(FormatDoubleTest, IsShortestAndExact) {
  EXPECT_EQ(FormatDouble(5e-05), "5e-05");
  EXPECT_EQ(FormatDouble(0.1), "0.1");
  EXPECT_EQ(FormatDouble(3.0), "3");
  EXPECT_EQ(std::stod(FormatDouble(1.0 / 3)), 1.0 / 3);
}

TEST(IsCleanTextTest, TakesUtf8AndNothingElse) {
  EXPECT_TRUE(IsCleanText(""));
  EXPECT_TRUE(IsCleanText("é 漢 😀 \x7f\n"));
  EXPECT_FALSE(IsCleanText(absl::string_view("a\0b", 3)));
  EXPECT_FALSE(IsCleanText("\xff"));
  EXPECT_FALSE(IsCleanText("\xc3"));          // cut off
  EXPECT_FALSE(IsCleanText("\xc0\xaf"));      // overlong
  EXPECT_FALSE(IsCleanText("\xe0\x80\x80"));  // overlong
  EXPECT_FALSE(IsCleanText("\xed\xa0\x80"));  // surrogate
  EXPECT_FALSE(IsCleanText("\xf4\x90\x80\x80"));
  EXPECT_FALSE(IsCleanText("\x80"));
}

TEST(SetFromTextTest, ReadsEachType) {
  Basics basics;
  EXPECT_TRUE(SetFromText(&basics, Field("flag"), "Yes").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("count"), "-2147483648").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("limit"), "9223372036854775807").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("rate"), "-.5e3").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("name"), "x y").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("part"), "a").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("part"), "").ok());
  EXPECT_TRUE(SetFromText(&basics, Field("size"), "7").ok());
  EXPECT_TRUE(basics.flag());
  EXPECT_EQ(basics.count(), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(basics.limit(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(basics.rate(), -500);
  EXPECT_EQ(basics.name(), "x y");
  EXPECT_EQ(ValuesAsText(basics, Field("part")), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(ValuesAsText(basics, Field("size")), (std::vector<std::string>{"7"}));
  EXPECT_TRUE(ValuesAsText(basics, Field("mode")).empty());
}

TEST(SetFromTextTest, RefusesWhatIsNotOfTheType) {
  struct Case {
    const char* field;
    const char* text;
    const char* problem;
  };
  for (const Case& c : {
           Case{"flag", "maybe", "got \"maybe\", wanted true or false"},
           Case{"count", "2147483648", "got \"2147483648\", wanted an integer of 32 bits"},
           Case{"count", "1.0", "got \"1.0\", wanted an integer of 32 bits"},
           Case{"limit", "", "got \"\", wanted an integer of 64 bits"},
           Case{"rate", "nan", "got \"nan\", wanted a finite number"},
           Case{"rate", "-inf", "got \"-inf\", wanted a finite number"},
           Case{"rate", "1e999", "got \"1e999\", wanted a finite number"},
           Case{"rate", "1,5", "got \"1,5\", wanted a finite number"},
           Case{"name", "\xff", "got bytes that are not UTF-8 text, wanted a text"},
       }) {
    Basics basics;
    const absl::Status status = SetFromText(&basics, Field(c.field), c.text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_EQ(status.message(), c.problem);
    EXPECT_TRUE(ValuesAsText(basics, Field(c.field)).empty());
  }
}

}  // namespace
}  // namespace trencadis::schema
