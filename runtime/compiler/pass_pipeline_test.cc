#include "runtime/compiler/pass_pipeline.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/scoped_env.h"
#include "runtime/compiler/passes/cse.h"
#include "runtime/compiler/passes/dce.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kText = R"(graph {
  %x = input() : f32[4]
  %dead = exp(%x)
  %y = neg(%x)
  return %y
})";

// Drops the outputs, or names one that does not exist, and says what it is told to say.
class Breaker final : public Pass {
 public:
  Breaker(bool invalid, bool says_changed) : invalid_(invalid), says_changed_(says_changed) {}
  absl::string_view name() const override { return "breaker"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override {
    graph.SetOutputs({{invalid_ ? 99 : 0, 0}});
    return says_changed_;
  }

 private:
  bool invalid_;
  bool says_changed_;
};

TEST(PassPipeline, ReportsEachPass) {
  PassPipeline pipeline("test", {});
  pipeline.Add<Dce>();
  pipeline.Add<Cse>();
  ir::Graph graph = GraphFrom(kText);
  ASSERT_TRUE(pipeline.Run(graph).ok());
  ASSERT_EQ(pipeline.reports().size(), 2u);
  EXPECT_EQ(pipeline.reports()[0].name, "dce");
  EXPECT_TRUE(pipeline.reports()[0].changed);
  EXPECT_EQ(pipeline.reports()[0].nodes_after, 2);
  EXPECT_FALSE(pipeline.reports()[1].changed);
}

TEST(PassPipeline, CatchesAFalseClaimAndAnInvalidGraph) {
  for (const bool invalid : {false, true}) {
    PassPipeline pipeline("test", {});
    pipeline.Add<Breaker>(invalid, /*says_changed=*/invalid);
    ir::Graph graph = GraphFrom(kText);
    const absl::Status status = pipeline.Run(graph);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr("pass breaker"));
  }
}

TEST(PassPipeline, LeavesOutDisabledPasses) {
  const ir::Graph original = GraphFrom(kText);
  ir::Graph graph = original;
  PassPipeline by_option("test", {"dce"});
  by_option.Add<Dce>();
  ASSERT_TRUE(by_option.Run(graph).ok());
  EXPECT_TRUE(graph == original);
  const ScopedEnv env("HPU_DISABLE_PASSES", " cse, dce ");
  PassPipeline by_environment("test", {});
  by_environment.Add<Dce>();
  by_environment.Add<Cse>();
  ASSERT_TRUE(by_environment.Run(graph).ok());
  EXPECT_TRUE(graph == original);
}

TEST(PassPipeline, RefusesToDisableAPassThatIsNotThere) {
  PassPipeline pipeline("test", {"dse"});
  pipeline.Add<Dce>();
  ir::Graph graph = GraphFrom(kText);
  EXPECT_THAT(std::string(pipeline.Run(graph).message()), HasSubstr("passes are dce"));
}

TEST(PassPipeline, DumpsWhatMatches) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pass_dumps";
  std::filesystem::create_directory(folder);
  const ScopedEnv to("HPU_DUMP_TO", folder.string());
  const ScopedEnv which("HPU_DUMP_PASS_RE", "^d");
  PassPipeline pipeline("a/b", {});
  pipeline.Add<Cse>();
  pipeline.Add<Dce>();
  ir::Graph graph = GraphFrom(kText);
  ASSERT_TRUE(pipeline.Run(graph).ok());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++files;
    EXPECT_THAT(entry.path().filename().string(), HasSubstr("02.dce.txt"));
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_TRUE(GraphFrom(text.str()) == graph);
  }
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace trencadis::compiler
