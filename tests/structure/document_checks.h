// Checks of one Markdown document: what it names exists. Complaints as in source_checks.h.
#ifndef TRENCADIS_TESTS_STRUCTURE_DOCUMENT_CHECKS_H_
#define TRENCADIS_TESTS_STRUCTURE_DOCUMENT_CHECKS_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/structure/source_checks.h"

namespace trencadis::structure {

// What the workspace holds. Paths are relative to its root.
struct Workspace {
  std::function<bool(const std::string& path)> exists;
  // The BUILD file of a package, empty when there is none.
  std::function<std::string(const std::string& package)> build_file;
};

// Links to files of the workspace, and in blocks of code the labels (//package:target,
// //folder/...) and scripts (tools/name.sh): each must exist, and each block must end.
Complaints CheckDocument(const Workspace& workspace, absl::string_view path,
                         absl::string_view text);

}  // namespace trencadis::structure

#endif  // TRENCADIS_TESTS_STRUCTURE_DOCUMENT_CHECKS_H_
