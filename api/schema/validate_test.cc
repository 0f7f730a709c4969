#include "api/schema/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Job;
using testing::Sample;

Sample Valid() {
  Sample sample;
  sample.mutable_basics()->set_name("n");
  return sample;
}

std::vector<std::string> Lines(const google::protobuf::Message& message) {
  std::vector<std::string> lines;
  for (const Violation& violation : FindViolations(message)) lines.push_back(ToString(violation));
  return lines;
}

TEST(ValidateTest, AcceptsDefaultsAndGoodValues) {
  Sample sample = Valid();
  EXPECT_TRUE(Validate(sample).ok());
  sample.mutable_basics()->set_count(100);
  sample.mutable_basics()->set_scale(2);
  sample.mutable_basics()->set_mode("fast");
  EXPECT_TRUE(Validate(sample).ok());
}

TEST(ValidateTest, ChecksRanges) {
  Sample sample = Valid();
  sample.mutable_basics()->set_count(0);
  sample.mutable_basics()->set_rate(-1e-9);
  sample.mutable_basics()->set_scale(0);
  sample.mutable_basics()->add_size(1);
  sample.mutable_basics()->add_size(-1);
  EXPECT_THAT(
      Lines(sample),
      ElementsAre("--count ($.basics.count): got 0, wanted an integer at least 1, at most 100",
                  "--rate ($.basics.rate): got -1e-09, wanted a number at least 0",
                  "--scale ($.basics.scale): got 0, wanted a number above 0, at most 2",
                  "--size ($.basics.size[1]): got -1, wanted an integer at least 0"));
  Sample not_finite = Valid();
  not_finite.mutable_basics()->set_rate(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(Validate(not_finite).ok());
  not_finite.mutable_basics()->set_rate(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(Validate(not_finite).ok());
}

TEST(ValidateTest, ChecksChoicesAndRefusedChoices) {
  Sample sample = Valid();
  sample.mutable_basics()->set_mode("sideways");
  EXPECT_THAT(Lines(sample),
              ElementsAre("--mode ($.basics.mode): got \"sideways\", wanted one of slow, fast"));
  sample.mutable_basics()->set_mode("warp");
  EXPECT_THAT(
      Lines(sample),
      ElementsAre("--mode ($.basics.mode): got warp, which is not honoured here: use fast"));
}

TEST(ValidateTest, DemandsWhatIsRequired) {
  EXPECT_THAT(Lines(Sample()), ElementsAre("--name ($.basics.name): is missing, wanted a text"));
}

TEST(ValidateTest, RefusesByNameUnlessItIsTheDefault) {
  Sample sample = Valid();
  sample.mutable_extras()->set_later(false);
  EXPECT_THAT(Lines(sample), IsEmpty());
  sample.mutable_extras()->set_later(true);
  EXPECT_THAT(Lines(sample),
              ElementsAre("--later ($.extras.later): got true, which is not honoured here: wait"));
}

TEST(ValidateTest, RefusesWhatTheToolDoesNotKnow) {
  Sample sample = Valid();
  sample.mutable_extras()->set_removed(true);
  EXPECT_THAT(Lines(sample),
              ElementsAre("--removed ($.extras.removed): this program has no such option"));
}

TEST(ValidateTest, WarnsOfWhatHasNoEffect) {
  Sample sample = Valid();
  sample.mutable_extras()->set_unused("dev");
  EXPECT_THAT(Warnings(sample), IsEmpty()) << "the default";
  sample.mutable_extras()->set_unused("main");
  EXPECT_THAT(Warnings(sample), ElementsAre("--unused has no effect: nothing uses it"));
  EXPECT_TRUE(Validate(sample).ok());
}

TEST(ValidateTest, ChecksWhatAOneofHolds) {
  Job job;
  EXPECT_THAT(Lines(job), ElementsAre("$: has no task, wanted one of sample, extras"));
  job.mutable_sample()->mutable_basics()->set_count(0);
  EXPECT_THAT(
      Lines(job),
      ElementsAre(
          "--count ($.sample.basics.count): got 0, wanted an integer at least 1, at most 100",
          "--name ($.sample.basics.name): is missing, wanted a text"));
}

TEST(ValidateTest, JoinsAllViolationsInOneStatus) {
  Sample sample;
  sample.mutable_basics()->set_count(0);
  const absl::Status status = Validate(sample);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "--count ($.basics.count): got 0, wanted an integer at least 1, at most 100\n"
            "--name ($.basics.name): is missing, wanted a text");
}

}  // namespace
}  // namespace trencadis::schema
