// The nearest known name to a mistyped one, for "did you mean" hints.
#ifndef TRENCADIS_API_SCHEMA_NEAREST_H_
#define TRENCADIS_API_SCHEMA_NEAREST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace trencadis::schema {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`: the optimal string
// alignment distance.
int EditDistance(absl::string_view a, absl::string_view b);

// The candidate with the smallest distance to `name`, the first of several; empty if even that one
// differs in more than a third of its characters.
std::string Nearest(absl::string_view name, const std::vector<std::string>& candidates);

// ": did you mean NAME?", or "" where no candidate is near.
std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_NEAREST_H_
