#include "tests/structure/document_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace trencadis::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DocumentChecksTest : public testing::Test {
 protected:
  Complaints Check(absl::string_view text) {
    const std::set<std::string> files = {"README.md",     "docs/design.md", "docs/guide.md",
                                         "tools/test.sh", "tools",          "runtime"};
    const Workspace workspace = {
        .exists = [files](const std::string& path) { return files.contains(path); },
        .build_file =
            [](const std::string& package) {
              return package == "tools" ? "cc_binary(\n    name = \"run_clm\",\n)" : "";
            },
    };
    return CheckDocument(workspace, "docs/guide.md", text);
  }
};

TEST_F(DocumentChecksTest, LinksAreRelativeToTheDocument) {
  EXPECT_THAT(
      Check("See [design](design.md#layers), [top](../README.md), [web](http://x/y), [a](#b).\n"),
      IsEmpty());
  EXPECT_THAT(Check("\n[gone](gone.md) and [design](docs/design.md)\n"),
              ElementsAre("docs/guide.md:2 links to gone.md, which does not exist",
                          "docs/guide.md:2 links to docs/design.md, which does not exist"));
}

TEST_F(DocumentChecksTest, CommandsNameWhatExists) {
  EXPECT_THAT(Check("```bash\n"
                    "bazel run //tools:run_clm -- --data file://x\n"
                    "bazel test //runtime/... //tools:all //...\n"
                    "tools/test.sh && ./tools/test.sh\n"
                    "```\n"
                    "Prose may speak of //nothing:here.\n"),
              IsEmpty());
  EXPECT_THAT(Check("```bash\n"
                    "bazel run //tools:gone\n"
                    "bazel test //models/... //runtime\n"
                    "tools/gone.sh\n"
                    "```\n"),
              ElementsAre("docs/guide.md:2 names //tools:gone, which does not exist",
                          "docs/guide.md:3 names //models/..., which does not exist",
                          "docs/guide.md:3 names //runtime, which does not exist",
                          "docs/guide.md:4 runs tools/gone.sh, which does not exist"));
}

TEST_F(DocumentChecksTest, BlocksEnd) {
  EXPECT_THAT(Check("text\n```bash\nls\n"),
              ElementsAre("docs/guide.md:2 opens a block that does not end"));
}

}  // namespace
}  // namespace trencadis::structure
