// The checks on every file of the workspace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file.h"
#include "tests/structure/document_checks.h"
#include "tests/structure/layers.h"
#include "tests/structure/source_checks.h"
#include "tests/structure/source_tree.h"

namespace trencadis::structure {
namespace {

bool IsHeader(absl::string_view name) { return absl::EndsWith(name, ".h"); }
bool IsCpp(absl::string_view name) { return IsHeader(name) || absl::EndsWith(name, ".cc"); }
bool IsCode(absl::string_view name) {
  return IsCpp(name) || absl::EndsWith(name, ".proto") || absl::EndsWith(name, ".bzl") ||
         absl::EndsWith(name, ".sh") || absl::EndsWith(name, ".py");
}
bool IsDocument(absl::string_view name) { return absl::EndsWith(name, ".md"); }
bool IsBuildFile(absl::string_view name) { return name == "BUILD"; }

Layers TheLayers() { return *Layers::Parse(ReadSource("tests/structure/layers.txt")); }

// Fails with every complaint of `check` about the files whose name is `wanted`.
template <typename Check>
void CheckAll(bool (*wanted)(absl::string_view), const Check& check) {
  const std::vector<std::string> paths = FindSources(wanted);
  ASSERT_FALSE(paths.empty());
  Complaints all;
  for (const std::string& path : paths) {
    const Complaints complaints = check(path, ReadSource(path));
    all.insert(all.end(), complaints.begin(), complaints.end());
  }
  EXPECT_TRUE(all.empty()) << absl::StrJoin(all, "\n");
}

TEST(StructureTest, IncludesFollowTheLayers) {
  CheckAll(IsCpp, [layers = TheLayers()](absl::string_view path, absl::string_view text) {
    return CheckIncludes(layers, path, text);
  });
}

TEST(StructureTest, ReservedNamesStayWhereTheyBelong) { CheckAll(IsCpp, CheckReservedNames); }

TEST(StructureTest, HeadersAreGuarded) { CheckAll(IsHeader, CheckIncludeGuard); }

TEST(StructureTest, NoFileIsLong) { CheckAll(IsCode, CheckLength); }

TEST(StructureTest, PackagesAreVisibleUpwardsOnly) {
  CheckAll(IsBuildFile, [layers = TheLayers()](absl::string_view path, absl::string_view text) {
    return CheckVisibility(layers, path, text);
  });
}

TEST(StructureTest, DocumentsNameWhatExists) {
  FileSystem& files = RealFileSystem();
  const std::string root = SourceRoot();
  const Workspace workspace = {
      .exists = [&](const std::string& path) { return files.Exists(JoinPath(root, path)); },
      .build_file =
          [&](const std::string& package) {
            return files.ReadFile(JoinPath(root, JoinPath(package, "BUILD"))).value_or("");
          },
  };
  CheckAll(IsDocument, [&](absl::string_view path, absl::string_view text) {
    return CheckDocument(workspace, path, text);
  });
}

TEST(StructureTest, RootHoldsThePackageGroupsOfTheLayers) {
  EXPECT_THAT(ReadSource("BUILD"), testing::HasSubstr(TheLayers().PackageGroups()));
}

// The folders of the layers in the table of docs/design.md: rows "| 3 | `folder`, `folder` | ...".
std::map<std::string, int> LayersOfTheDesign() {
  std::map<std::string, int> layer_of_folder;
  static const std::regex kRow(R"(^\| (\d+) \| ([^|]*) \|)"), kFolder("`([^`]+)`");
  const std::vector<std::string> lines = absl::StrSplit(ReadSource("docs/design.md"), '\n');
  for (const std::string& line : lines) {
    std::smatch row;
    if (!std::regex_search(line, row, kRow)) continue;
    const std::string folders = row[2];
    for (std::sregex_iterator folder(folders.begin(), folders.end(), kFolder), end; folder != end;
         ++folder) {
      layer_of_folder[(*folder)[1]] = std::stoi(row[1]);
    }
  }
  return layer_of_folder;
}

TEST(StructureTest, DesignHasTheSameLayers) {
  const Layers layers = TheLayers();
  std::map<std::string, int> expected;
  for (int layer = 0; layer <= layers.highest(); ++layer) {
    for (const std::string& folder : layers.Folders(layer)) {
      // The design gives tests no number: they may use everything.
      if (!absl::StartsWith(folder, "tests")) expected[folder] = layer;
    }
  }
  EXPECT_EQ(LayersOfTheDesign(), expected);
}

}  // namespace
}  // namespace trencadis::structure
