#include "runtime/base/trace.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace trencadis {
namespace {

using nlohmann::json;

TEST(TraceTest, RecordsOnlyWhileOn) {
  { TraceSpan span("before", "test"); }
  StartTrace();
  {
    TraceSpan outer("outer", "test");
    TraceSpan inner("inner", "test");
  }
  const std::vector<TraceEvent> events = StopTrace();
  { TraceSpan span("after", "test"); }
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0].name, "inner");
  EXPECT_EQ(events[1].name, "outer");
  EXPECT_LE(events[1].start_us, events[0].start_us);
  EXPECT_GE(events[1].start_us + events[1].duration_us, events[0].start_us + events[0].duration_us);
  EXPECT_TRUE(StopTrace().empty());
}

TEST(TraceTest, SpansAcrossStartOrStopAreDropped) {
  auto early = std::make_unique<TraceSpan>("early", "test");
  StartTrace();
  early.reset();
  auto late = std::make_unique<TraceSpan>("late", "test");
  EXPECT_TRUE(StopTrace().empty());
  late.reset();
  StartTrace();
  EXPECT_TRUE(StopTrace().empty());
}

TEST(TraceTest, ThreadsHaveTheirOwnTracks) {
  StartTrace();
  { TraceSpan span("main", "test"); }
  std::thread([] { TraceSpan span("other", "test"); }).join();
  const std::vector<TraceEvent> events = StopTrace();
  ASSERT_EQ(events.size(), 2);
  EXPECT_NE(events[0].track, events[1].track);
}

TEST(TraceTest, JsonHoldsEveryEvent) {
  const TraceEvent events[] = {
      {.name = "a \"quoted\"\n\\name", .category = "x", .start_us = 1.5, .duration_us = 2.25},
      {.name = "b", .track = 3, .arguments = {{"shape", "f32[2,3]"}, {"bytes", "24"}}},
  };
  const json document = json::parse(ChromeTraceJson(events));
  ASSERT_EQ(document["traceEvents"].size(), 2);
  const json& first = document["traceEvents"][0];
  EXPECT_EQ(first["name"], "a \"quoted\"\n\\name");
  EXPECT_EQ(first["ph"], "X");
  EXPECT_EQ(first["ts"], 1.5);
  EXPECT_EQ(first["dur"], 2.25);
  const json& second = document["traceEvents"][1];
  EXPECT_EQ(second["tid"], 3);
  EXPECT_EQ(second["args"]["shape"], "f32[2,3]");
  EXPECT_EQ(second["args"]["bytes"], "24");
  EXPECT_TRUE(json::parse(ChromeTraceJson({}))["traceEvents"].empty());
}

}  // namespace
}  // namespace trencadis
