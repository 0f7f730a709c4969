// Metrics under the names that optimum-habana's users know, and the files they are written to.
#ifndef TRENCADIS_TRAINING_RESULTS_H_
#define TRENCADIS_TRAINING_RESULTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/device/memory_stats.h"

namespace trencadis::training {

// Names and values in the order in which they are shown.
class Metrics {
 public:
  // Adds or replaces.
  void Set(absl::string_view name, double value);
  // CHECKs that it is there.
  double Get(absl::string_view name) const;
  bool Has(absl::string_view name) const;
  void Merge(const Metrics& other);

  const std::vector<std::pair<std::string, double>>& values() const { return values_; }
  // One JSON object; not-a-number and infinities as the strings "nan", "inf", "-inf".
  std::string ToJson(bool indented) const;

 private:
  std::vector<std::pair<std::string, double>> values_;
};

// `value` rounded to `decimals` digits after the point, as Python's round.
double Rounded(double value, int decimals);

// The memory keys of a log line: "memory_allocated (GB)", "max_memory_allocated (GB)" and
// "total_memory_available (GB)", GB being 1024³ bytes, two decimals.
Metrics MemoryMetrics(const MemoryStats& stats);

// Writes `directory`/`split`_results.json and merges into all_results.json there.
absl::Status SaveResults(const std::string& directory, absl::string_view split,
                         const Metrics& metrics);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_RESULTS_H_
