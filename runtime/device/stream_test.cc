#include "runtime/device/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

TEST(StreamTest, RunsWorkInOrder) {
  std::vector<int> order;
  Stream stream(2);
  for (int i = 0; i < 100; ++i) {
    stream.Enqueue([&order, i] {
      order.push_back(i);
      return absl::OkStatus();
    });
  }
  ASSERT_TRUE(stream.Synchronize().ok());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(StreamTest, TheFirstFailurePoisonsIt) {
  int later_runs = 0;
  Stream stream(4);
  stream.Enqueue([] { return absl::OkStatus(); });
  EXPECT_TRUE(stream.Synchronize().ok());
  stream.Enqueue([] { return absl::OutOfRangeError("first"); });
  for (int i = 0; i < 10; ++i) {
    stream.Enqueue([&later_runs] {
      ++later_runs;
      return absl::InternalError("later");
    });
  }
  EXPECT_EQ(stream.Synchronize().message(), "first");
  EXPECT_EQ(stream.status().message(), "first");
  EXPECT_EQ(stream.Synchronize().message(), "first");
  EXPECT_EQ(later_runs, 0);
}

TEST(StreamTest, NoMoreThanRunAheadWaits) {
  constexpr int kRunAhead = 3;
  constexpr int kWork = 50;
  std::atomic<int> issued{0};
  int most_ahead = 0;
  Stream stream(kRunAhead);
  for (int i = 0; i < kWork; ++i) {
    stream.Enqueue([&, i] {
      // The first piece lets the others pile up as far as they may.
      while (i == 0 && issued < 1 + kRunAhead) std::this_thread::yield();
      for (int spin = 0; i == 0 && spin < 1000; ++spin) std::this_thread::yield();
      most_ahead = std::max(most_ahead, issued - (i + 1));
      return absl::OkStatus();
    });
    ++issued;
  }
  ASSERT_TRUE(stream.Synchronize().ok());
  EXPECT_EQ(most_ahead, kRunAhead);
}

TEST(StreamTest, FinishedWorkHoldsNothing) {
  auto held = std::make_shared<int>(0);
  Stream stream(2);
  stream.Enqueue([copy = held] { return absl::OkStatus(); });
  ASSERT_TRUE(stream.Synchronize().ok());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(StreamTest, WhatIsQueuedRunsBeforeItEnds) {
  int runs = 0;
  {
    Stream stream(8);
    for (int i = 0; i < 8; ++i) {
      stream.Enqueue([&runs] {
        ++runs;
        return absl::OkStatus();
      });
    }
  }
  EXPECT_EQ(runs, 8);
}

}  // namespace
}  // namespace trencadis
