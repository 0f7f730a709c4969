#include "runtime/base/trace.h"

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/clock.h"

namespace trencadis {
namespace {

constexpr size_t kMaxEvents = 1'000'000;

struct Recorder {
  std::mutex mutex;
  std::vector<TraceEvent> events;   // guarded by mutex
  std::atomic<double> start_us{0};  // when the trace started, on the monotonic clock
};

Recorder& GlobalRecorder() {
  static Recorder* recorder = new Recorder;
  return *recorder;
}

double MonotonicUs() { return MonotonicClock().NowSeconds() * 1e6; }

int64_t ThreadTrack() {
  static std::atomic<int64_t> next{0};
  thread_local const int64_t track = next.fetch_add(1);
  return track;
}

std::string Quoted(absl::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&result, "\\", std::string(1, c));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&result, "\\u%04x", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

namespace internal {

std::atomic<bool> g_tracing{false};

double TraceNowUs() { return MonotonicUs() - GlobalRecorder().start_us; }

void RecordSpan(absl::string_view name, absl::string_view category, double start_us) {
  Recorder& recorder = GlobalRecorder();
  const double end_us = TraceNowUs();
  std::lock_guard<std::mutex> lock(recorder.mutex);
  // A span that outlives its trace belongs to no trace.
  if (!TraceIsOn() || end_us < start_us || recorder.events.size() >= kMaxEvents) return;
  recorder.events.push_back({.name = std::string(name),
                             .category = std::string(category),
                             .start_us = start_us,
                             .duration_us = end_us - start_us,
                             .track = ThreadTrack()});
}

}  // namespace internal

void StartTrace() {
  Recorder& recorder = GlobalRecorder();
  std::lock_guard<std::mutex> lock(recorder.mutex);
  recorder.events.clear();
  recorder.start_us = MonotonicUs();
  internal::g_tracing = true;
}

std::vector<TraceEvent> StopTrace() {
  Recorder& recorder = GlobalRecorder();
  std::lock_guard<std::mutex> lock(recorder.mutex);
  internal::g_tracing = false;
  return std::exchange(recorder.events, {});
}

std::string ChromeTraceJson(absl::Span<const TraceEvent> events) {
  std::string json = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    absl::StrAppendFormat(
        &json, "%s\n{\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":%s,",
        i == 0 ? "" : ",", event.track, event.start_us, event.duration_us, Quoted(event.name));
    absl::StrAppend(&json, "\"cat\":", Quoted(event.category), ",\"args\":{");
    const char* separator = "";
    for (const auto& [key, value] : event.arguments) {
      absl::StrAppend(&json, std::exchange(separator, ","), Quoted(key), ":", Quoted(value));
    }
    absl::StrAppend(&json, "}}");
  }
  return absl::StrCat(json, "\n]}\n");
}

}  // namespace trencadis
