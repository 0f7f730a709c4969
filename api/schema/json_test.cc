#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "api/schema/json_read.h"
#include "api/schema/json_write.h"
#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Job;
using testing::Sample;
using ::testing::StartsWith;

template <typename M = Sample>
std::string Problem(absl::string_view json) {
  M message;
  const absl::Status status = JsonToMessage(json, &message);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(status.message());
}

TEST(JsonReadTest, ReadsEveryType) {
  Sample sample;
  const absl::Status status = JsonToMessage(
      R"({"basics": {"flag": true, "count": -5, "limit": 9223372036854775807, "rate": 1,
                     "scale": 2.5e-3, "name": "é\n", "part": ["a", ""], "size": [1, 2]},
          "extras": {"later": false}})",
      &sample);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(sample.basics().flag());
  EXPECT_EQ(sample.basics().count(), -5);
  EXPECT_EQ(sample.basics().limit(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(sample.basics().rate(), 1);
  EXPECT_EQ(sample.basics().scale(), 2.5e-3);
  EXPECT_EQ(sample.basics().name(), "é\n");
  EXPECT_THAT(sample.basics().part(), ElementsAre("a", ""));
  EXPECT_THAT(sample.basics().size(), ElementsAre(1, 2));
  EXPECT_TRUE(sample.extras().has_later());
}

TEST(JsonReadTest, KeepsWhatIsNotNamedAndReplacesLists) {
  Sample sample;
  sample.mutable_basics()->set_count(3);
  sample.mutable_basics()->add_part("old");
  ASSERT_TRUE(JsonToMessage(R"({"basics": {"part": ["new"]}})", &sample).ok());
  EXPECT_EQ(sample.basics().count(), 3);
  EXPECT_THAT(sample.basics().part(), ElementsAre("new"));
}

TEST(JsonReadTest, TakesNullOnlyForWhatIsUnsetByNature) {
  Sample sample;
  ASSERT_TRUE(JsonToMessage(R"({"basics": {"tristate": null, "limit": null}})", &sample).ok());
  EXPECT_FALSE(sample.basics().has_tristate());
  EXPECT_EQ(Problem(R"({"basics": {"count": null}})"),
            "$.basics.count: got null, wanted an integer at least 1, at most 100");
  EXPECT_EQ(Problem(R"({"basics": null})"), "$.basics: got null, wanted an object");
  EXPECT_EQ(Problem(R"({"basics": {"part": ["a", null]}})"),
            "$.basics.part[1]: got null, wanted a text");
}

TEST(JsonReadTest, NamesThePathOfAWrongType) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"basics": {"count": "7"}})",
       "$.basics.count: got the text \"7\", wanted an integer at least 1, at most 100"},
      {R"({"basics": {"count": 7.0}})",
       "$.basics.count: got 7.0, wanted an integer at least 1, at most 100"},
      {R"({"basics": {"count": true}})",
       "$.basics.count: got true, wanted an integer at least 1, at most 100"},
      {R"({"basics": {"flag": 1}})", "$.basics.flag: got 1, wanted true or false"},
      {R"({"basics": {"flag": "true"}})",
       "$.basics.flag: got the text \"true\", wanted true or false"},
      {R"({"basics": {"name": 7}})", "$.basics.name: got 7, wanted a text"},
      {R"({"basics": {"rate": "1"}})",
       "$.basics.rate: got the text \"1\", wanted a number at least 0"},
      {R"({"basics": {"part": "a"}})", "$.basics.part: got the text \"a\", wanted a list"},
      {R"({"basics": {"part": ["a", "b", 3]}})", "$.basics.part[2]: got 3, wanted a text"},
      {R"({"basics": {"part": [["a"]]}})", "$.basics.part[0]: got a list, wanted a text"},
      {R"({"basics": {"part": [{}]}})", "$.basics.part[0]: got an object, wanted a text"},
      {R"({"basics": {"name": {}}})", "$.basics.name: got an object, wanted a text"},
      {R"({"basics": {"name": []}})", "$.basics.name: got a list, wanted a text"},
      {R"({"basics": []})", "$.basics: got a list, wanted an object"},
      {R"({"basics": 7})", "$.basics: got 7, wanted an object"},
      {R"([])", "$: got a list, wanted an object"},
      {R"(7)", "$: got 7, wanted an object"},
      {R"(null)", "$: got null, wanted an object"},
  };
  for (const auto& [json, problem] : cases) EXPECT_EQ(Problem(json), problem);
}

TEST(JsonReadTest, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(Problem(R"({"basics": {"count": 2147483648}})"),
            "$.basics.count: got \"2147483648\", wanted an integer of 32 bits");
  EXPECT_EQ(Problem(R"({"basics": {"limit": 9223372036854775808}})"),
            "$.basics.limit: got \"9223372036854775808\", wanted an integer of 64 bits");
  EXPECT_THAT(Problem(R"({"basics": {"limit": 99999999999999999999}})"),
              StartsWith("$.basics.limit: got 99999999999999999999"));
  EXPECT_THAT(Problem(R"({"basics": {"rate": 1e999}})"), HasSubstr("$.basics.rate"));
  EXPECT_THAT(Problem(R"({"basics": {"rate": NaN}})"), HasSubstr("$.basics.rate"));
}

TEST(JsonReadTest, RefusesUnknownAndRepeatedMembers) {
  EXPECT_EQ(Problem(R"({"basics": {"conut": 7}})"),
            "$.basics.conut: unknown member: did you mean count?");
  EXPECT_EQ(Problem(R"({"zzzzzz": 7})"), "$.zzzzzz: unknown member");
  EXPECT_EQ(Problem(R"({"extras": {"removed": true}})"), "$.extras.removed: unknown member")
      << "the tool has no such option";
  EXPECT_EQ(Problem(R"({"count": 7})"), "$.count: unknown member") << "flat form is not asked for";
  EXPECT_EQ(Problem(R"({"basics": {"count": 7, "count": 8}})"),
            "$.basics.count: got this member twice, wanted it once");
  EXPECT_EQ(Problem(R"({"a\n": 7})"), "$.a\\n: unknown member");
}

TEST(JsonReadTest, RefusesWhatIsNotJson) {
  EXPECT_THAT(Problem(""), StartsWith("not JSON at line 1, column 1 ($): "));
  EXPECT_THAT(Problem("{\"basics\":\n  {\"count\": 7,}}"),
              StartsWith("not JSON at line 2, column 15 ($.basics.count): syntax error"));
  for (const char* bad : {"{", "{} x", "{\"basics\": {/**/}}", "{'basics': {}}", "\xff",
                          "{\"basics\": {\"name\": \"\xff\"}}"}) {
    EXPECT_THAT(Problem(bad), StartsWith("not JSON at ")) << bad;
  }
  EXPECT_EQ(Problem(R"({"basics": {"name": "a\u0000b"}})"),
            "$.basics.name: got a text with a NUL character, wanted none");
}

TEST(JsonReadTest, StopsAtTheFirstBracketThatIsTooDeep) {
  const std::string deep = R"({"basics": {"part": )" + std::string(1000000, '[');
  EXPECT_EQ(Problem(deep), "$.basics.part[0]: got a list, wanted a text");
  EXPECT_EQ(Problem(std::string(1000000, '[')), "$: got a list, wanted an object");
}

TEST(JsonReadTest, TakesOneMemberOfAOneof) {
  Job job;
  ASSERT_TRUE(JsonToMessage(R"({"sample": {"basics": {"count": 1}}})", &job).ok());
  EXPECT_EQ(job.sample().basics().count(), 1);
  EXPECT_EQ(Problem<Job>(R"({"sample": {}, "extras": {}})"),
            "$.extras: got this beside sample, wanted one of them");
}

TEST(JsonWriteTest, WritesWhatIsSetInOrder) {
  Sample sample;
  sample.mutable_extras()->add_word("w");
  sample.mutable_basics()->set_rate(1e-3);
  sample.mutable_basics()->set_flag(false);
  EXPECT_EQ(MessageToJson(sample, {/*defaults=*/false, /*indent=*/0}),
            R"({"basics":{"flag":false,"rate":0.001},"extras":{"word":["w"]}})");
  EXPECT_EQ(MessageToJson(Sample(), {/*defaults=*/false, /*indent=*/0}), "{}");
}

TEST(JsonWriteTest, WritesDefaultsOnDemand) {
  Sample sample;
  sample.mutable_basics()->set_count(3);
  EXPECT_EQ(MessageToJson(sample, {/*defaults=*/true, /*indent=*/0}),
            R"({"basics":{"flag":false,"cache":true,"count":3,"rate":5e-05,"scale":1,)"
            R"("mode":"slow"},"extras":{"later":false,"unused":"dev"}})");
}

TEST(JsonWriteTest, TellsTheChosenMemberOfAOneof) {
  Job job;
  job.mutable_sample();
  EXPECT_EQ(MessageToJson(job, {/*defaults=*/false, /*indent=*/0}), R"({"sample":{}})");
  Job read;
  ASSERT_TRUE(JsonToMessage(MessageToJson(job), &read).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(read, job));
}

}  // namespace
}  // namespace trencadis::schema
