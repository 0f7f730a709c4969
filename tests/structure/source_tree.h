// The workspace's source files, found through the link to WORKSPACE among the test's data. Tests
// that use it must have the tags "external" and "local": Bazel does not know what they read.
#ifndef TRENCADIS_TESTS_STRUCTURE_SOURCE_TREE_H_
#define TRENCADIS_TESTS_STRUCTURE_SOURCE_TREE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace trencadis::structure {

// The workspace's root.
std::string SourceRoot();

// Paths, relative to the root and sorted, of the files whose name satisfies `wanted`. Hidden
// folders, Bazel's outputs, and other ignored folders are left out.
std::vector<std::string> FindSources(const std::function<bool(absl::string_view name)>& wanted);

// The text of a file given relative to the root.
std::string ReadSource(absl::string_view path);

}  // namespace trencadis::structure

#endif  // TRENCADIS_TESTS_STRUCTURE_SOURCE_TREE_H_
