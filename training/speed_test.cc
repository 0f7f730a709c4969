#include "training/speed.h"

#include <gtest/gtest.h>

namespace trencadis::training {
namespace {

TEST(SpeedMeterTest, DividesByTheWholeRuntime) {
  FakeClock clock;
  SpeedMeter speed(0, clock);
  for (int step = 0; step < 4; ++step) {
    clock.AdvanceSeconds(0.5);
    speed.CountStep(3, 100);
  }
  const Metrics metrics = speed.Results("train", /*with_tokens=*/true);
  EXPECT_EQ(metrics.Get("train_runtime"), 2);
  EXPECT_EQ(metrics.Get("train_samples_per_second"), 6);
  EXPECT_EQ(metrics.Get("train_steps_per_second"), 2);
  EXPECT_EQ(metrics.Get("train_tokens_per_second"), 200);
  EXPECT_FALSE(speed.Results("eval", false).Has("eval_tokens_per_second"));
}

TEST(SpeedMeterTest, WarmUpIsLeftOutOfTheRatesAndNotOfTheRuntime) {
  FakeClock clock;
  SpeedMeter speed(2, clock);
  for (const double seconds : {10.0, 10.0, 1.0, 1.0}) {
    clock.AdvanceSeconds(seconds);
    speed.CountStep(5, 7);
  }
  const Metrics metrics = speed.Results("train", true);
  EXPECT_EQ(metrics.Get("train_runtime"), 22);
  EXPECT_EQ(metrics.Get("train_steps_per_second"), 1);
  EXPECT_EQ(metrics.Get("train_samples_per_second"), 5);
  EXPECT_EQ(metrics.Get("train_tokens_per_second"), 7);
}

TEST(SpeedMeterTest, WhatIsLeftOutDoesNotSlowTheRates) {
  FakeClock clock;
  SpeedMeter speed(1, clock);
  clock.AdvanceSeconds(3);
  speed.LeaveOut(2);  // part of the warm-up
  speed.CountStep(1, 1);
  clock.AdvanceSeconds(5);
  speed.LeaveOut(4);
  speed.CountStep(1, 1);
  const Metrics metrics = speed.Results("train", false);
  EXPECT_EQ(metrics.Get("train_runtime"), 8);
  EXPECT_EQ(metrics.Get("train_steps_per_second"), 1);
}

TEST(SpeedMeterTest, NothingCountedIsZero) {
  FakeClock clock;
  SpeedMeter speed(3, clock);
  EXPECT_EQ(speed.Results("eval", false).Get("eval_samples_per_second"), 0);
}

}  // namespace
}  // namespace trencadis::training
