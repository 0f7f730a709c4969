#include "training/schedule.h"

#include <gtest/gtest.h>

namespace trencadis::training {
namespace {

// Values of transformers 4.34's schedulers for base rate 1, 2 warm-up and 10 total steps.
TEST(ScheduleTest, FollowsTransformers) {
  const LearningRateSchedule linear{ScheduleKind::kLinear, 1.0, 2, 10};
  EXPECT_DOUBLE_EQ(linear.RateAt(0), 0.0);
  EXPECT_DOUBLE_EQ(linear.RateAt(1), 0.5);
  EXPECT_DOUBLE_EQ(linear.RateAt(2), 1.0);
  EXPECT_DOUBLE_EQ(linear.RateAt(6), 0.5);
  EXPECT_DOUBLE_EQ(linear.RateAt(10), 0.0);
  EXPECT_DOUBLE_EQ(linear.RateAt(11), 0.0);
  const LearningRateSchedule cosine{ScheduleKind::kCosine, 1.0, 2, 10};
  EXPECT_DOUBLE_EQ(cosine.RateAt(1), 0.5);
  EXPECT_NEAR(cosine.RateAt(4), 0.85355339, 1e-8);
  EXPECT_NEAR(cosine.RateAt(6), 0.5, 1e-12);
  EXPECT_NEAR(cosine.RateAt(10), 0.0, 1e-12);
}

TEST(ScheduleTest, ConstantKinds) {
  const LearningRateSchedule constant{ScheduleKind::kConstant, 0.25, 4, 10};
  EXPECT_DOUBLE_EQ(constant.RateAt(0), 0.25);
  const LearningRateSchedule warm{ScheduleKind::kConstantWithWarmup, 0.25, 4, 10};
  EXPECT_DOUBLE_EQ(warm.RateAt(2), 0.125);
  EXPECT_DOUBLE_EQ(warm.RateAt(100), 0.25);
}

TEST(ScheduleTest, WarmupStepsWinOverRatioAndRatioRoundsUp) {
  EXPECT_EQ(WarmupSteps(5, 0.5, 100), 5);
  EXPECT_EQ(WarmupSteps(0, 0.03, 101), 4);
  EXPECT_EQ(WarmupSteps(0, 0.0, 101), 0);
}

TEST(ScheduleTest, NamesAreParsedAndOthersRefused) {
  EXPECT_EQ(*ParseScheduleKind("cosine"), ScheduleKind::kCosine);
  EXPECT_EQ(ParseScheduleKind("cosin").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trencadis::training
