#include "api/schema/defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using testing::Basics;
using testing::Job;
using testing::Sample;

TEST(DefaultsTest, FillsWhatIsUnsetAndHasADefault) {
  Sample sample;
  sample.mutable_basics()->set_count(3);
  const Sample resolved = Resolved(sample);
  EXPECT_EQ(resolved.basics().count(), 3);
  EXPECT_TRUE(resolved.basics().has_flag());
  EXPECT_TRUE(resolved.basics().cache());
  EXPECT_EQ(resolved.basics().rate(), 5e-05);
  EXPECT_EQ(resolved.basics().mode(), "slow");
  EXPECT_FALSE(resolved.basics().has_limit());
  EXPECT_FALSE(resolved.basics().has_tristate());
  EXPECT_EQ(resolved.extras().unused(), "dev") << "the tool's own default";
  EXPECT_FALSE(resolved.extras().has_removed()) << "the tool has no such option";
  EXPECT_FALSE(sample.has_extras()) << "the original is left alone";
}

TEST(DefaultsTest, FillsOnlyTheChosenMemberOfAOneof) {
  Job job;
  EXPECT_EQ(Resolved(job).task_case(), Job::TASK_NOT_SET);
  job.mutable_extras();
  const Job resolved = Resolved(job);
  EXPECT_EQ(resolved.task_case(), Job::kExtras);
  EXPECT_EQ(resolved.extras().unused(), "main");
}

TEST(DefaultsTest, ComparesWithTheDefault) {
  const google::protobuf::FieldDescriptor* rate = Basics::descriptor()->FindFieldByName("rate");
  OptionSpec spec;
  spec.set_default_value("5e-05");
  Basics basics;
  EXPECT_TRUE(IsDefault(basics, rate, spec));
  basics.set_rate(0.00005);
  EXPECT_TRUE(IsDefault(basics, rate, spec));
  basics.set_rate(1);
  EXPECT_FALSE(IsDefault(basics, rate, spec));
  EXPECT_FALSE(IsDefault(basics, rate, OptionSpec())) << "a value where there is no default";
}

TEST(DefaultsTest, TellsWhatWasGiven) {
  Sample sample;
  sample.mutable_extras()->add_word("x");
  sample.mutable_basics()->set_flag(false);
  sample.mutable_basics()->set_name("");
  EXPECT_THAT(GivenOptions(sample), ::testing::ElementsAre("flag", "name", "word"));
}

}  // namespace
}  // namespace trencadis::schema
