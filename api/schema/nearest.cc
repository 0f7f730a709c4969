#include "api/schema/nearest.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trencadis::schema {

int EditDistance(absl::string_view a, absl::string_view b) {
  // Three rows of the dynamic-programming table: i - 2, i - 1 and i characters of `a`.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string Nearest(absl::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  int best_distance = -1;
  for (const std::string& candidate : candidates) {
    const int distance = EditDistance(name, candidate);
    if (best_distance < 0 || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  const int longest = static_cast<int>(std::max(name.size(), best.size()));
  return best_distance * 3 <= longest ? best : "";
}

std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(name, candidates);
  return nearest.empty() ? "" : absl::StrCat(": did you mean ", nearest, "?");
}

}  // namespace trencadis::schema
