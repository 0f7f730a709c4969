#include "runtime/base/metrics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace trencadis {
namespace {

TEST(MetricsTest, AddsAndSets) {
  MetricsRegistry registry;
  registry.Add("recipe_cache", "TotalHit");
  registry.Add("recipe_cache", "TotalHit", 2);
  registry.Set("memory", "Limit", 7);
  registry.Set("memory", "Limit", 5);
  const MetricsSnapshot expected = {{"recipe_cache", {{"TotalHit", 3}}},
                                    {"memory", {{"Limit", 5}}}};
  EXPECT_EQ(registry.Snapshot(), expected);
  registry.Reset();
  EXPECT_TRUE(registry.Snapshot().empty());
}

TEST(MetricsTest, TimesAreMicroseconds) {
  MetricsRegistry registry;
  registry.RecordTime("graph_compilation", 0.25);
  registry.RecordTime("graph_compilation", 0.75);
  const MetricsSnapshot expected = {
      {"graph_compilation",
       {{"TotalNumber", 2}, {"TotalTime", 1e6}, {"AvgTime", 5e5}, {"MaxTime", 7.5e5}}}};
  EXPECT_EQ(registry.Snapshot(), expected);
}

TEST(MetricsTest, DifferenceShowsWhatHappenedBetween) {
  MetricsRegistry registry;
  registry.RecordTime("graph_compilation", 1);
  registry.Set("memory", "InUse", 100);
  const MetricsSnapshot before = registry.Snapshot();
  EXPECT_EQ(Difference(before, before)["graph_compilation"]["AvgTime"], 0);
  registry.RecordTime("graph_compilation", 3);
  registry.Set("memory", "InUse", 40);
  registry.Add("recipe_cache", "TotalHit", 4);
  MetricsSnapshot difference = Difference(before, registry.Snapshot());
  EXPECT_EQ(difference["graph_compilation"]["TotalNumber"], 1);
  EXPECT_EQ(difference["graph_compilation"]["TotalTime"], 3e6);
  EXPECT_EQ(difference["graph_compilation"]["AvgTime"], 3e6);
  EXPECT_EQ(difference["memory"]["InUse"], 40);
  EXPECT_EQ(difference["recipe_cache"]["TotalHit"], 4);
}

TEST(MetricsTest, CountsFromManyThreads) {
  MetricsRegistry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&registry] {
      for (int i = 0; i < 1000; ++i) registry.Add("recipe_cache", "TotalHit");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.Snapshot()["recipe_cache"]["TotalHit"], 4000);
}

}  // namespace
}  // namespace trencadis
