#include "tests/structure/source_tree.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::structure {
namespace {

namespace fs = std::filesystem;

bool IsSkipped(const std::string& directory_name) {
  return absl::StartsWith(directory_name, ".") || absl::StartsWith(directory_name, "bazel-") ||
         directory_name == "out" || directory_name == "node_modules";
}

}  // namespace

std::string SourceRoot() { return fs::canonical("WORKSPACE").parent_path().string(); }

std::vector<std::string> FindSources(const std::function<bool(absl::string_view name)>& wanted) {
  const fs::path root = SourceRoot();
  std::vector<std::string> paths;
  for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory()) {
      if (IsSkipped(name)) entry.disable_recursion_pending();
    } else if (wanted(name)) {
      paths.push_back(fs::relative(entry->path(), root).string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string ReadSource(absl::string_view path) {
  absl::StatusOr<std::string> text = RealFileSystem().ReadFile(JoinPath(SourceRoot(), path));
  TRENCADIS_CHECK(text.ok());
  return *std::move(text);
}

}  // namespace trencadis::structure
