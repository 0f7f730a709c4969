// Checks of one source file, given its path in the workspace and its text. Each returns complaints,
// one line each, beginning with "path" or "path:line"; none when the file is as it should be.
#ifndef TRENCADIS_TESTS_STRUCTURE_SOURCE_CHECKS_H_
#define TRENCADIS_TESTS_STRUCTURE_SOURCE_CHECKS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/structure/layers.h"

namespace trencadis::structure {

using Complaints = std::vector<std::string>;

// Includes of our own files: from the root of the workspace, of a layer that is not higher.
Complaints CheckIncludes(const Layers& layers, absl::string_view path, absl::string_view text);

// LLVM and oneDNN are included by runtime/codegen only; the environment is read by
// runtime/base/env.cc only.
Complaints CheckReservedNames(absl::string_view path, absl::string_view text);

// A header is guarded by TRENCADIS_PATH_FILE_H_.
Complaints CheckIncludeGuard(absl::string_view path, absl::string_view text);

// At most 500 lines.
Complaints CheckLength(absl::string_view path, absl::string_view text);

// A BUILD file of a layer's folder shows its targets to no lower layer: its default is the layer's
// package group or private, and so is the visibility of each target.
Complaints CheckVisibility(const Layers& layers, absl::string_view path, absl::string_view text);

}  // namespace trencadis::structure

#endif  // TRENCADIS_TESTS_STRUCTURE_SOURCE_CHECKS_H_
