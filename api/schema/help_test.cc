#include "api/schema/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/schema/catalog.h"
#include "api/schema/testing/sample.pb.h"
#include "api/schema/tool_list.h"

namespace trencadis::schema {
namespace {

using testing::Clashing;
using testing::Sample;

constexpr char kSampleHelp[] = R"(usage: sample [--flag value ...]
       sample configuration.json

Shows every kind of option.

General
  -h, --help                        Print this text.
  --config FILE                     JSON file with options; flags win over it.

Basics
  --flag [BOOL]                     A switch. (default false)
  --cache [BOOL]                    On unless switched off. (default true)
  --tristate [BOOL]                 On, off, or left to the program.
  --count INT                       How many. (default 8; at least 1, at most 100; also -c,
                                    --how_many)
  --limit INT                       A limit.
  --rate NUMBER                     A rate that has such a long explanation that it does not fit
                                    into one line of help text. (default 5e-05; at least 0)
  --scale NUMBER                    A scale. (default 1; above 0, at most 2)
  --name TEXT                       A name. (required)
  --mode slow|fast                  A mode. (default slow)
  --part TEXT ...                   Parts.
  --size INT ...                    Sizes. (at least 0)

Words
  --word TEXT ...                   Words.

Extras
  --count_extended TEXT             Ours.

Accepted without effect
  --unused:
      nothing uses it

Refused, unless given their default
  --later:
      wait
)";

constexpr char kSampleReference[] = R"(
## Basics

| Flag | Value | Default | Meaning |
|---|---|---|---|
| `--flag` | `[BOOL]` | `false` | A switch. |
| `--cache` | `[BOOL]` | `true` | On unless switched off. |
| `--tristate` | `[BOOL]` |  | On, off, or left to the program. |
| `--count` | `INT` | `8` | How many. (at least 1, at most 100) Also `-c`, `--how_many`. |
)";

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(HelpTest, RendersTheSample) { EXPECT_EQ(HelpText(Sample::descriptor()).value(), kSampleHelp); }

TEST(HelpTest, RendersTheSampleAsMarkdown) {
  const std::string page = WriteReference(Sample::descriptor()).value();
  EXPECT_THAT(page, ::testing::HasSubstr(kSampleReference));
  EXPECT_THAT(page, ::testing::HasSubstr("| `--mode` | `slow\\|fast` | `slow` | A mode. |\n"));
  EXPECT_THAT(page, ::testing::HasSubstr("| `--name` | `TEXT` | required | A name. |\n"));
}

TEST(HelpTest, ReportsClashingNames) {
  EXPECT_EQ(HelpText(Clashing::descriptor()).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(WriteReference(Clashing::descriptor()).status().code(), absl::StatusCode::kInternal);
}

TEST(HelpTest, KeepsToTheColumnsForEveryTool) {
  for (const google::protobuf::Descriptor* tool : ToolList()) {
    const std::string help = HelpText(tool).value();
    for (const absl::string_view line : absl::StrSplit(help, '\n')) {
      EXPECT_LE(line.size(), 100u) << line;
    }
  }
}

TEST(ReferenceTest, IsUpToDate) {
  for (const google::protobuf::Descriptor* tool : ToolList()) {
    const std::string name = (*Catalog::Of(tool))->tool_name();
    EXPECT_EQ(WriteReference(tool).value(), ReadFile(absl::StrCat("docs/reference/", name, ".md")))
        << "run: bazel run //api/schema:write_reference -- $PWD/docs/reference";
  }
}

}  // namespace
}  // namespace trencadis::schema
