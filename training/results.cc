#include "training/results.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::training {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return value;
}

Json ToObject(const Metrics& metrics) {
  Json object = Json::object();
  for (const auto& [name, value] : metrics.values()) object[name] = Number(value);
  return object;
}

// The object in `path`, or an empty one where there is no such file or it is damaged: results of an
// earlier run are worth keeping, not worth failing for.
Json ReadObject(const std::string& path) {
  const absl::StatusOr<std::string> text = RealFileSystem().ReadFile(path);
  if (!text.ok()) return Json::object();
  Json object = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : Json::object();
}

}  // namespace

void Metrics::Set(absl::string_view name, double value) {
  for (auto& entry : values_) {
    if (entry.first == name) {
      entry.second = value;
      return;
    }
  }
  values_.emplace_back(name, value);
}

bool Metrics::Has(absl::string_view name) const {
  return std::any_of(values_.begin(), values_.end(),
                     [&](const auto& entry) { return entry.first == name; });
}

double Metrics::Get(absl::string_view name) const {
  for (const auto& entry : values_) {
    if (entry.first == name) return entry.second;
  }
  TRENCADIS_CHECK(false);
}

void Metrics::Merge(const Metrics& other) {
  for (const auto& [name, value] : other.values_) Set(name, value);
}

std::string Metrics::ToJson(bool indented) const { return ToObject(*this).dump(indented ? 4 : -1); }

double Rounded(double value, int decimals) {
  double rounded = value;
  // Printing rounds the exact value; scaling by a power of ten first would not.
  if (std::isfinite(value)) {
    TRENCADIS_CHECK(absl::SimpleAtod(absl::StrFormat("%.*f", decimals, value), &rounded));
  }
  return rounded;
}

Metrics MemoryMetrics(const MemoryStats& stats) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const auto gigabytes = [](int64_t bytes) {
    return Rounded(static_cast<double>(bytes) / kGiB, 2);
  };
  Metrics metrics;
  metrics.Set("memory_allocated (GB)", gigabytes(stats.in_use_bytes));
  metrics.Set("max_memory_allocated (GB)", gigabytes(stats.max_in_use_bytes));
  metrics.Set("total_memory_available (GB)", gigabytes(stats.limit_bytes));
  return metrics;
}

absl::Status SaveResults(const std::string& directory, absl::string_view split,
                         const Metrics& metrics) {
  const std::string own_path = absl::StrCat(directory, "/", split, "_results.json");
  TRENCADIS_RETURN_IF_ERROR(WriteFileAtomically(own_path, metrics.ToJson(true)));
  const std::string all_path = absl::StrCat(directory, "/all_results.json");
  Json all = ReadObject(all_path);
  all.update(ToObject(metrics));
  return WriteFileAtomically(all_path, all.dump(4));
}

}  // namespace trencadis::training
