#include "tools/common/report.h"

#include <algorithm>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/logging.h"

namespace trencadis::tools {

void Reporter::PrintJson(const char* event, const training::Metrics& metrics) const {
  const std::string object = metrics.ToJson(/*indented=*/false);
  const bool empty = metrics.values().empty();
  std::cout << absl::StrCat("{\"event\":\"", event, "\"", empty ? "" : ",", object.substr(1))
            << std::endl;
}

void Reporter::Log(const training::Metrics& metrics) const {
  if (json_) return PrintJson("log", metrics);
  std::string line;
  for (const auto& [name, value] : metrics.values()) {
    absl::StrAppend(&line, line.empty() ? "" : "  ", name, " ", absl::StrFormat("%.6g", value));
  }
  TRENCADIS_LOG(INFO) << line;
}

void Reporter::Print(const char* event, const training::Metrics& metrics) const {
  if (json_) return PrintJson(event, metrics);
  size_t width = 0;
  for (const auto& entry : metrics.values()) width = std::max(width, entry.first.size());
  for (const auto& [name, value] : metrics.values()) {
    std::cout << absl::StrFormat("  %-*s = %.6g\n", static_cast<int>(width), name, value);
  }
}

}  // namespace trencadis::tools
