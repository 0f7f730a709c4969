#include "training/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/base/file.h"

namespace trencadis::training {
namespace {

TEST(RoundedTest, RoundsTheExactValueAsPythonDoes) {
  EXPECT_EQ(Rounded(2.675, 2), 2.67);  // 2.675 is a little less
  EXPECT_EQ(Rounded(0.125, 2), 0.12);  // a tie goes to the even digit
  EXPECT_EQ(Rounded(0.375, 2), 0.38);
  EXPECT_EQ(Rounded(-1.23456, 3), -1.235);
  EXPECT_EQ(Rounded(1e300, 4), 1e300);
  EXPECT_TRUE(std::isnan(Rounded(std::nan(""), 2)));
  EXPECT_EQ(Rounded(INFINITY, 2), INFINITY);
}

TEST(MetricsTest, KeepsTheOrderAndReplaces) {
  Metrics metrics;
  metrics.Set("b", 1.5);
  metrics.Set("a", 3);
  metrics.Set("b", 2.25);
  EXPECT_EQ(metrics.ToJson(false), R"({"b":2.25,"a":3})");
  EXPECT_TRUE(metrics.Has("a"));
  EXPECT_FALSE(metrics.Has("c"));
  EXPECT_EQ(metrics.Get("b"), 2.25);
  Metrics other;
  other.Set("a", 4);
  other.Set("c", 5);
  metrics.Merge(other);
  EXPECT_EQ(metrics.ToJson(false), R"({"b":2.25,"a":4,"c":5})");
}

TEST(MetricsTest, WhatIsNoNumberIsAString) {
  Metrics metrics;
  metrics.Set("loss", std::nan(""));
  metrics.Set("perplexity", INFINITY);
  metrics.Set("low", -INFINITY);
  EXPECT_EQ(metrics.ToJson(false), R"({"loss":"nan","perplexity":"inf","low":"-inf"})");
}

TEST(MemoryMetricsTest, HasTheKeysInGigabytes) {
  MemoryStats stats;
  stats.in_use_bytes = int64_t{1} << 29;
  stats.max_in_use_bytes = (int64_t{5} << 30) / 4;
  stats.limit_bytes = int64_t{94} << 30;
  const Metrics metrics = MemoryMetrics(stats);
  EXPECT_EQ(metrics.Get("memory_allocated (GB)"), 0.5);
  EXPECT_EQ(metrics.Get("max_memory_allocated (GB)"), 1.25);
  EXPECT_EQ(metrics.Get("total_memory_available (GB)"), 94);
  EXPECT_EQ(metrics.values().size(), 3u);
}

nlohmann::json ReadJson(const std::string& path) {
  const absl::StatusOr<std::string> text = RealFileSystem().ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status();
  return nlohmann::json::parse(text.value_or("null"));
}

TEST(SaveResultsTest, EachSplitHasItsFileAndAllAreMerged) {
  const std::string directory = JoinPath(testing::TempDir(), "results");
  ASSERT_TRUE(RealFileSystem().CreateDirectories(directory).ok());
  Metrics train, eval;
  train.Set("train_loss", 1.5);
  train.Set("epoch", 3);
  eval.Set("eval_loss", 2.5);
  ASSERT_TRUE(SaveResults(directory, "train", train).ok());
  ASSERT_TRUE(SaveResults(directory, "eval", eval).ok());
  EXPECT_EQ(ReadJson(directory + "/train_results.json"),
            nlohmann::json({{"train_loss", 1.5}, {"epoch", 3}}));
  EXPECT_EQ(ReadJson(directory + "/all_results.json"),
            nlohmann::json({{"train_loss", 1.5}, {"epoch", 3}, {"eval_loss", 2.5}}));
  EXPECT_FALSE(SaveResults(directory + "/absent", "train", train).ok());
}

}  // namespace
}  // namespace trencadis::training
