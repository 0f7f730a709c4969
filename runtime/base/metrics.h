// Counters and times under the names that the HPU's PyTorch bridge uses (`metric_global`), e.g.
//
//   graph_compilation {TotalNumber, TotalTime, AvgTime}
//   recipe_cache {TotalHit, TotalMiss}
//
// Times are in microseconds, as there. Thread-safe.
#ifndef TRENCADIS_RUNTIME_BASE_METRICS_H_
#define TRENCADIS_RUNTIME_BASE_METRICS_H_

#include <map>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace trencadis {

// Metric name -> statistic name -> value: what becomes a JSON object of objects.
using MetricsSnapshot = std::map<std::string, std::map<std::string, double>>;

class MetricsRegistry {
 public:
  // The process's.
  static MetricsRegistry& Global();

  // Adds `delta` to a statistic, which starts at 0.
  void Add(absl::string_view metric, absl::string_view statistic, double delta = 1);
  // Gives a statistic a value.
  void Set(absl::string_view metric, absl::string_view statistic, double value);
  // Counts one event that took `seconds`: TotalNumber, TotalTime, AvgTime and MaxTime of `metric`.
  void RecordTime(absl::string_view metric, double seconds);

  MetricsSnapshot Snapshot() const;
  // Forgets everything.
  void Reset();

 private:
  double& Statistic(absl::string_view metric, absl::string_view statistic);

  mutable std::mutex mutex_;
  MetricsSnapshot values_;  // guarded by mutex_
};

// What happened between two snapshots of a registry, as `metric_localcontext` shows it: totals are
// subtracted and averages taken anew; a value that is neither total nor average is the later one.
MetricsSnapshot Difference(const MetricsSnapshot& before, const MetricsSnapshot& after);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_METRICS_H_
