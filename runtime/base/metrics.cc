#include "runtime/base/metrics.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace trencadis {
namespace {

constexpr char kTotalNumber[] = "TotalNumber";
constexpr char kTotalTime[] = "TotalTime";
constexpr char kAvgTime[] = "AvgTime";
constexpr char kMaxTime[] = "MaxTime";

}  // namespace

MetricsRegistry& MetricsRegistry::Global() {
  static MetricsRegistry* registry = new MetricsRegistry;
  return *registry;
}

double& MetricsRegistry::Statistic(absl::string_view metric, absl::string_view statistic) {
  return values_[std::string(metric)][std::string(statistic)];
}

void MetricsRegistry::Add(absl::string_view metric, absl::string_view statistic, double delta) {
  std::lock_guard<std::mutex> lock(mutex_);
  Statistic(metric, statistic) += delta;
}

void MetricsRegistry::Set(absl::string_view metric, absl::string_view statistic, double value) {
  std::lock_guard<std::mutex> lock(mutex_);
  Statistic(metric, statistic) = value;
}

void MetricsRegistry::RecordTime(absl::string_view metric, double seconds) {
  const double time_us = seconds * 1e6;
  std::lock_guard<std::mutex> lock(mutex_);
  const double number = Statistic(metric, kTotalNumber) += 1;
  const double total_us = Statistic(metric, kTotalTime) += time_us;
  Statistic(metric, kAvgTime) = total_us / number;
  double& max_us = Statistic(metric, kMaxTime);
  max_us = std::max(max_us, time_us);
}

MetricsSnapshot MetricsRegistry::Snapshot() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return values_;
}

void MetricsRegistry::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  values_.clear();
}

MetricsSnapshot Difference(const MetricsSnapshot& before, const MetricsSnapshot& after) {
  MetricsSnapshot result = after;
  for (auto& [metric, statistics] : result) {
    const auto old = before.find(metric);
    if (old == before.end()) continue;
    for (auto& [name, value] : statistics) {
      const auto old_value = old->second.find(name);
      if (old_value != old->second.end() && absl::StartsWith(name, "Total")) {
        value -= old_value->second;
      }
    }
    if (statistics.contains(kAvgTime)) {
      const double number = statistics[kTotalNumber];
      statistics[kAvgTime] = number > 0 ? statistics[kTotalTime] / number : 0;
    }
  }
  return result;
}

}  // namespace trencadis
