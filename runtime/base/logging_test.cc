#include "runtime/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trencadis {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class LoggingTest : public testing::Test {
 protected:
  void SetUp() override { SetMinLogLevel(LogLevel::kInfo); }
};

TEST_F(LoggingTest, LineHasTimeLevelAndText) {
  CaptureStderr();
  TRENCADIS_LOG(WARNING) << "disk " << 90 << " % full";
  EXPECT_THAT(GetCapturedStderr(),
              ContainsRegex("^[0-9-]+ [0-9]+:[0-9]+:[0-9]+\\.[0-9]+ WARNING disk 90 % full\n$"));
}

TEST_F(LoggingTest, BelowTheLevelNothingIsEvaluated) {
  SetMinLogLevel(LogLevel::kError);
  int evaluations = 0;
  CaptureStderr();
  TRENCADIS_LOG(WARNING) << ++evaluations;
  TRENCADIS_LOG(ERROR) << "shown";
  const std::string output = GetCapturedStderr();
  EXPECT_EQ(evaluations, 0);
  EXPECT_THAT(output, HasSubstr("ERROR shown"));
}

TEST_F(LoggingTest, OffHidesErrors) {
  SetMinLogLevel(LogLevel::kOff);
  CaptureStderr();
  TRENCADIS_LOG(ERROR) << "hidden";
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(LoggingTest, WorksAsTheBodyOfAnUnbracedIf) {
  CaptureStderr();
  if (false)
    TRENCADIS_LOG(INFO) << "then";
  else
    TRENCADIS_LOG(INFO) << "else";
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("INFO else"));
}

TEST_F(LoggingTest, WarnOnceWarnsOncePerKey) {
  CaptureStderr();
  WarnOnce("a", "first");
  WarnOnce("a", "second");
  WarnOnce("b", "third");
  const std::string output = GetCapturedStderr();
  EXPECT_THAT(output, HasSubstr("WARNING first"));
  EXPECT_THAT(output, Not(HasSubstr("second")));
  EXPECT_THAT(output, HasSubstr("WARNING third"));
}

TEST_F(LoggingTest, StatusLineStaysBelowMessages) {
  CaptureStderr();
  SetStatusLine("50 %");
  TRENCADIS_LOG(INFO) << "saved";
  SetStatusLine("");
  TRENCADIS_LOG(INFO) << "done";
  const std::string output = GetCapturedStderr();
  EXPECT_THAT(output, testing::StartsWith("\r\033[K50 %\r\033[K"));
  EXPECT_THAT(output, HasSubstr("INFO saved\n50 %\r\033[K"));
  EXPECT_THAT(output, testing::EndsWith("INFO done\n"));
}

TEST_F(LoggingTest, LinesOfThreadsDoNotMix) {
  constexpr int kThreads = 4, kLines = 200;
  CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i) TRENCADIS_LOG(INFO) << "thread " << t << " says hello.";
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string output = GetCapturedStderr();
  const std::vector<std::string> lines = absl::StrSplit(output, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.size(), kThreads * kLines);
  for (const std::string& line : lines) {
    EXPECT_THAT(line, ContainsRegex("^[^ ]+ [^ ]+ INFO thread [0-9] says hello\\.$"));
  }
}

}  // namespace
}  // namespace trencadis
