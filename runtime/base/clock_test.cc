#include "runtime/base/clock.h"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

TEST(ClockTest, MonotonicClockNeverGoesBack) {
  double last = MonotonicClock().NowSeconds();
  for (int i = 0; i < 1000; ++i) {
    const double now = MonotonicClock().NowSeconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, FakeClockMovesOnlyWhenTold) {
  FakeClock clock;
  const double start = clock.NowSeconds();
  EXPECT_EQ(clock.NowSeconds(), start);
  clock.AdvanceSeconds(1.5);
  EXPECT_EQ(clock.NowSeconds(), start + 1.5);
}

}  // namespace
}  // namespace trencadis
