#include "runtime/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"

namespace trencadis {
namespace {

using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

TEST(ProgressTest, LineShowsStepsLossSpeedAndTimeLeft) {
  FakeClock clock;
  Progress progress({.label = "train", .total_steps = 200, .is_terminal = false, .clock = &clock});
  EXPECT_EQ(progress.Line(), "train   0 % |....................|  0/200");
  clock.AdvanceSeconds(47);
  progress.Update(84, 2.41527, 47 * 1234);
  EXPECT_EQ(progress.Line(),
            "train  42 % |########............|  84/200  loss 2.4153  1234 tokens/s  ETA 1:05");
}

TEST(ProgressTest, ResumedStepsDoNotCountForTheSpeed) {
  FakeClock clock;
  Progress progress({.label = "train",
                     .total_steps = 8000,
                     .first_step = 400,
                     .is_terminal = false,
                     .clock = &clock});
  clock.AdvanceSeconds(10);
  progress.Update(410, std::nullopt, 0);
  EXPECT_THAT(progress.Line(), HasSubstr("  410/8000  ETA 2:06:30"));
}

TEST(ProgressTest, UnknownTotalShowsSteps) {
  FakeClock clock;
  Progress progress({.label = "generate", .is_terminal = false, .clock = &clock});
  clock.AdvanceSeconds(2);
  progress.Update(5, std::nullopt, 100);
  EXPECT_EQ(progress.Line(), "generate  5  50 tokens/s");
}

TEST(ProgressTest, LogsAtIntervalsAndAtTheEnd) {
  FakeClock clock;
  CaptureStderr();
  {
    Progress progress({.label = "train",
                       .total_steps = 25,
                       .log_interval_s = 10,
                       .is_terminal = false,
                       .clock = &clock});
    for (int step = 1; step <= 25; ++step) {
      clock.AdvanceSeconds(1);
      progress.Update(step, 1.0, 10);
    }
  }
  const std::string output = GetCapturedStderr();
  const std::vector<std::string> lines = absl::StrSplit(output, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3);
  EXPECT_THAT(lines[0], HasSubstr("INFO train"));
  EXPECT_THAT(lines[0], HasSubstr(" 10/25"));
  EXPECT_THAT(lines[1], HasSubstr(" 20/25"));
  EXPECT_THAT(lines[2], HasSubstr(" 25/25"));
}

TEST(ProgressTest, RedrawsOneLineOnATerminalAndRemovesIt) {
  FakeClock clock;
  CaptureStderr();
  {
    Progress progress({.label = "train", .total_steps = 10, .is_terminal = true, .clock = &clock});
    for (int step = 1; step <= 2; ++step) {
      clock.AdvanceSeconds(1);
      progress.Update(step, std::nullopt, 0);
    }
  }
  const std::string output = GetCapturedStderr();
  EXPECT_THAT(output, Not(HasSubstr("\n")));
  EXPECT_THAT(output, HasSubstr("\r\033[Ktrain  10 %"));
  EXPECT_THAT(output, HasSubstr("\r\033[Ktrain  20 %"));
  EXPECT_THAT(output, testing::EndsWith("\r\033[K"));
}

}  // namespace
}  // namespace trencadis
