// Spans of time for a timeline, written in the Chrome trace format (chrome://tracing, Perfetto).
//
//   StartTrace();
//   { TraceSpan span("compile", "compiler"); ... }
//   WriteFileAtomically(path, ChromeTraceJson(StopTrace()));
//
// While no trace runs, a span costs one relaxed load. Thread-safe.
#ifndef TRENCADIS_RUNTIME_BASE_TRACE_H_
#define TRENCADIS_RUNTIME_BASE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis {

struct TraceEvent {
  std::string name;
  std::string category;
  double start_us = 0;  // since the trace started
  double duration_us = 0;
  int64_t track = 0;  // the row of the timeline; for spans, a small number per thread
  std::map<std::string, std::string> arguments;
};

// The whole document: an object with "traceEvents", one complete ("X") event for each of `events`.
std::string ChromeTraceJson(absl::Span<const TraceEvent> events);

// Forgets earlier events and begins to record. A trace keeps the first million of its events.
void StartTrace();
// Ends recording and returns the events in the order in which they ended.
std::vector<TraceEvent> StopTrace();

namespace internal {
extern std::atomic<bool> g_tracing;
double TraceNowUs();
void RecordSpan(absl::string_view name, absl::string_view category, double start_us);
}  // namespace internal

inline bool TraceIsOn() { return internal::g_tracing.load(std::memory_order_relaxed); }

// Records the time from its construction to its destruction. `name` and `category` must outlive it.
class TraceSpan {
 public:
  TraceSpan(absl::string_view name, absl::string_view category)
      : name_(name), category_(category), start_us_(TraceIsOn() ? internal::TraceNowUs() : -1) {}
  ~TraceSpan() {
    if (start_us_ >= 0) internal::RecordSpan(name_, category_, start_us_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  absl::string_view name_;
  absl::string_view category_;
  double start_us_;  // negative when no trace ran
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_TRACE_H_
