#include "runtime/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace trencadis {
namespace {

TEST(InterruptTest, FirstSignalOnlySetsTheFlag) {
  InstallInterruptHandler();
  EXPECT_FALSE(Interrupted());
  EXPECT_TRUE(InterruptStatus().ok());
  raise(SIGINT);
  EXPECT_TRUE(Interrupted());
  EXPECT_EQ(InterruptStatus(), absl::CancelledError("interrupted by SIGINT"));
  InstallInterruptHandler();
  EXPECT_FALSE(Interrupted());
  raise(SIGTERM);
  EXPECT_EQ(InterruptStatus(), absl::CancelledError("interrupted by SIGTERM"));
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        InstallInterruptHandler();
        raise(SIGTERM);
        raise(SIGINT);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace trencadis
