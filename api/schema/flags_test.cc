#include "api/schema/flags.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <fstream>

#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Sample;
using Args = std::vector<std::string>;

Sample Parsed(const Args& args) {
  Sample sample;
  const absl::StatusOr<ParsedFlags> flags = ParseFlags(args, &sample);
  EXPECT_TRUE(flags.ok()) << flags.status();
  return sample;
}

std::string Problem(const Args& args) {
  Sample sample;
  const absl::StatusOr<ParsedFlags> flags = ParseFlags(args, &sample);
  EXPECT_EQ(flags.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(flags.status().message());
}

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(FlagsTest, TakesValuesApartAndAttached) {
  EXPECT_EQ(Parsed({"--count", "5"}).basics().count(), 5);
  EXPECT_EQ(Parsed({"--count=5"}).basics().count(), 5);
  EXPECT_EQ(Parsed({"--name=a=b c"}).basics().name(), "a=b c");
  EXPECT_EQ(Parsed({"--name="}).basics().name(), "");
  EXPECT_EQ(Parsed({"--name", ""}).basics().name(), "");
  EXPECT_FALSE(Parsed({}).has_basics());
}

TEST(FlagsTest, TakesBooleansInEveryForm) {
  EXPECT_TRUE(Parsed({"--flag"}).basics().flag());
  EXPECT_TRUE(Parsed({"--flag", "--count", "5"}).basics().flag());
  EXPECT_TRUE(Parsed({"--flag", "True"}).basics().flag());
  EXPECT_TRUE(Parsed({"--flag=yes"}).basics().flag());
  for (const char* no : {"False", "false", "0", "no", "\"False\""}) {
    const Sample sample = Parsed({"--flag", no});
    EXPECT_TRUE(sample.basics().has_flag());
    EXPECT_FALSE(sample.basics().flag()) << no;
  }
}

TEST(FlagsTest, TakesNegationsOfWhatIsOnByDefault) {
  for (const char* negation : {"--no_cache", "--no-cache", "--no-cach"}) {
    const Sample sample = Parsed({negation});
    EXPECT_TRUE(sample.basics().has_cache()) << negation;
    EXPECT_FALSE(sample.basics().cache()) << negation;
  }
  EXPECT_THAT(Problem({"--no_flag"}), HasSubstr("unknown flag --no_flag"));
  EXPECT_EQ(Problem({"--no_cache=true"}),
            "--no_cache: got \"true\", wanted no value; use --cache true or false");
}

TEST(FlagsTest, LeavesThirdStateUnset) {
  EXPECT_FALSE(Parsed({"--tristate", "None"}).basics().has_tristate());
  EXPECT_FALSE(Parsed({"--tristate", "--tristate=none"}).basics().has_tristate());
  EXPECT_TRUE(Parsed({"--tristate"}).basics().tristate());
  EXPECT_EQ(Problem({"--flag", "None"}), "--flag: got \"None\", wanted true or false");
}

TEST(FlagsTest, TakesListsUntilTheNextFlag) {
  const Sample sample = Parsed({"--part", "q_proj", "v_proj", "--size", "1", "2", "--flag"});
  EXPECT_THAT(sample.basics().part(), ElementsAre("q_proj", "v_proj"));
  EXPECT_THAT(sample.basics().size(), ElementsAre(1, 2));
  EXPECT_THAT(Parsed({"--part=x"}).basics().part(), ElementsAre("x"));
  EXPECT_EQ(Problem({"--part", "--flag"}), "--part: got no value, wanted a text");
}

TEST(FlagsTest, TakesTheLastOfRepeatedFlags) {
  EXPECT_EQ(Parsed({"--count", "5", "--count=6"}).basics().count(), 6);
  EXPECT_THAT(Parsed({"--part", "a", "b", "--part", "c"}).basics().part(), ElementsAre("c"));
}

TEST(FlagsTest, TakesNumbersAsValues) {
  EXPECT_EQ(Parsed({"--limit", "-1"}).basics().limit(), -1);
  EXPECT_EQ(Parsed({"--rate", "-1.5e-3"}).basics().rate(), -1.5e-3);
  EXPECT_EQ(Parsed({"--rate", "-.5"}).basics().rate(), -0.5);
  EXPECT_EQ(Parsed({"--rate", "1e-08"}).basics().rate(), 1e-08);
  EXPECT_EQ(Parsed({"--rate", "0."}).basics().rate(), 0);
  EXPECT_THAT(Parsed({"--size", "3", "-4"}).basics().size(), ElementsAre(3, -4));
}

TEST(FlagsTest, TakesTextsThatStartWithADashOnlyWithASpace) {
  EXPECT_THAT(Parsed({"--word", "- a list", "-"}).extras().word(), ElementsAre("- a list", "-"));
  EXPECT_EQ(Parsed({"--name=--flag"}).basics().name(), "--flag");
  EXPECT_THAT(Problem({"--name", "-x"}), HasSubstr("--name: got no value"));
}

TEST(FlagsTest, TakesQuotesInsideQuotesOff) {
  EXPECT_EQ(Parsed({"--name", "\"3.0.0\""}).basics().name(), "3.0.0");
  EXPECT_EQ(Parsed({"--name='summarize: '"}).basics().name(), "summarize: ");
  EXPECT_EQ(Parsed({"--count", "\"7\""}).basics().count(), 7);
  EXPECT_EQ(Parsed({"--name", "\"\"x\"\""}).basics().name(), "\"x\"") << "once only";
  EXPECT_EQ(Parsed({"--name", "\""}).basics().name(), "\"");
  EXPECT_EQ(Parsed({"--name", "\"x'"}).basics().name(), "\"x'");
  EXPECT_THAT(Parsed({"--word", "\"kept\""}).extras().word(), ElementsAre("\"kept\""));
}

TEST(FlagsTest, TakesAliasesDashesAndAbbreviations) {
  EXPECT_EQ(Parsed({"-c", "4"}).basics().count(), 4);
  EXPECT_EQ(Parsed({"--how-many", "4"}).basics().count(), 4);
  EXPECT_EQ(Parsed({"--lim", "4"}).basics().limit(), 4);
  EXPECT_EQ(Parsed({"--lim=4"}).basics().limit(), 4);
  EXPECT_EQ(Parsed({"--count", "4"}).basics().count(), 4) << "an exact name is no abbreviation";
}

TEST(FlagsTest, KeepsUpstreamAbbreviationsDespiteExtensions) {
  EXPECT_EQ(Parsed({"--coun", "4"}).basics().count(), 4);
  EXPECT_EQ(Parsed({"--count_e", "x"}).extras().count_extended(), "x");
}

TEST(FlagsTest, NamesTheCandidatesOfAnAmbiguousAbbreviation) {
  EXPECT_EQ(Problem({"--s", "1"}),
            "ambiguous flag --s: it abbreviates --scale, --size; write more of the name");
}

TEST(FlagsTest, SuggestsTheNearestName) {
  EXPECT_EQ(Problem({"--raet", "1"}),
            "unknown flag --raet: did you mean --rate? sample -h lists all flags");
  EXPECT_EQ(Problem({"--xyzzy-plugh"}), "unknown flag --xyzzy-plugh; sample -h lists all flags");
  EXPECT_THAT(Problem({"--removed"}), HasSubstr("unknown flag --removed"));
  EXPECT_THAT(Problem({"-rate", "1"}), HasSubstr("did you mean --rate?"));
  EXPECT_THAT(Problem({"--"}), HasSubstr("unknown flag --"));
}

TEST(FlagsTest, ExplainsWhatIsNoFlag) {
  EXPECT_THAT(Problem({"stray"}), HasSubstr("got \"stray\" where a flag was wanted"));
  EXPECT_THAT(Problem({"--count", "5", "6"}), HasSubstr("got \"6\" where a flag was wanted"));
  EXPECT_EQ(Problem({"--count"}),
            "--count: got no value, wanted an integer at least 1, at most 100");
  EXPECT_EQ(Problem({"--count", "5.0"}), "--count: got \"5.0\", wanted an integer of 32 bits");
  EXPECT_EQ(Problem({"--lim", "x"}), "--lim: got \"x\", wanted an integer of 64 bits");
}

TEST(FlagsTest, ReadsTwoSwitchesWrittenAsOne) {
  Sample sample;
  const absl::StatusOr<ParsedFlags> flags = ParseFlags(Args{"--flag", "tristate"}, &sample);
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_TRUE(sample.basics().flag());
  EXPECT_TRUE(sample.basics().tristate());
  EXPECT_THAT(flags->notes, ElementsAre("--flag tristate is read as --flag --tristate"));
  EXPECT_EQ(Problem({"--flag", "count"}), "--flag: got \"count\", wanted true or false");
}

TEST(FlagsTest, AsksForHelpAnywhere) {
  for (const Args& args : {Args{"-h"}, Args{"--count", "5", "--help"}, Args{"--hel"}}) {
    Sample sample;
    const absl::StatusOr<ParsedFlags> flags = ParseFlags(args, &sample);
    ASSERT_TRUE(flags.ok()) << flags.status();
    EXPECT_TRUE(flags->help_requested);
    EXPECT_FALSE(sample.has_basics());
  }
}

TEST(FlagsTest, ReadsAFileInPlaceOfFlags) {
  const std::string flat = WriteFile("flat.json", R"({"how_many": 9, "name": "n", "word": ["w"]})");
  const Sample from_flat = Parsed({flat});
  EXPECT_EQ(from_flat.basics().count(), 9);
  EXPECT_THAT(from_flat.extras().word(), ElementsAre("w"));
  const std::string nested = WriteFile("nested.json", R"({"basics": {"count": 9}, "name": "n"})");
  EXPECT_EQ(Parsed({nested}).basics().count(), 9);
}

TEST(FlagsTest, LetsFlagsWinOverAFile) {
  const std::string file =
      WriteFile("mix.json", R"({"count": 9, "name": "n", "part": ["a", "b"]})");
  for (const Args& args : {Args{"--config", file, "--count", "5", "--part", "c"},
                           Args{"--count=5", "--part=c", "--config=" + file}}) {
    const Sample sample = Parsed(args);
    EXPECT_EQ(sample.basics().count(), 5);
    EXPECT_EQ(sample.basics().name(), "n");
    EXPECT_THAT(sample.basics().part(), ElementsAre("c"));
  }
  EXPECT_EQ(Problem({"--config"}), "--config: wanted the name of a JSON file");
}

TEST(FlagsTest, NamesAFileThatCannotBeRead) {
  Sample sample;
  const absl::Status missing = ParseFlags(Args{"/nowhere/x.json"}, &sample).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("/nowhere/x.json: cannot read the configuration"));
  const std::string directory = ::testing::TempDir();
  EXPECT_EQ(ParseFlags(Args{"--config", directory}, &sample).status().code(),
            absl::StatusCode::kNotFound);
  const std::string bad = WriteFile("bad.json", R"({"rtae": 9})");
  EXPECT_EQ(Problem({bad}), bad + ": $.rtae: unknown member: did you mean rate?");
  const std::string twice = WriteFile("twice.json", R"({"count": 9, "how_many": 8})");
  EXPECT_EQ(Problem({twice}), twice + ": $.how_many: got count twice, under two names");
  const std::string both = WriteFile("both.json", R"({"count": 9, "basics": {"count": 8}})");
  EXPECT_EQ(Problem({both}), both + ": $.basics.count: got count twice, under two names");
  const std::string large = WriteFile("large.json", std::string((4 << 20) + 1, ' '));
  EXPECT_THAT(Problem({large}), HasSubstr("got more than 4194304 bytes"));
}

TEST(ToFlagsTest, IsTheInverseOfParsing) {
  Sample sample;
  sample.mutable_basics()->set_flag(false);
  sample.mutable_basics()->set_name("\"quoted\"");
  sample.mutable_basics()->add_part("--dash");
  sample.mutable_basics()->add_part("b");
  sample.mutable_extras()->add_word("--dash");
  const absl::StatusOr<Args> args = ToFlags(sample);
  ASSERT_TRUE(args.ok()) << args.status();
  EXPECT_THAT(*args, ElementsAre("--flag=false", "--name=\"\"quoted\"\"", "--part", "\"--dash\"",
                                 "b", "--word=--dash"));
  EXPECT_TRUE(MessageDifferencer::Equals(Parsed(*args), sample));
  sample.mutable_extras()->add_word("b");
  EXPECT_THAT(ToFlags(sample).status().message(), HasSubstr("use JSON"));
}

}  // namespace
}  // namespace trencadis::schema
