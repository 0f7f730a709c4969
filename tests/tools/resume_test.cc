// Interrupted runs end where uninterrupted ones do, bit for bit.
#include <gmock/gmock.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "tests/tools/tools_test_case.h"

namespace trencadis::tests {
namespace {

using testing::HasSubstr;

class ResumeTest : public ToolsTestCase {
 protected:
  // Accumulation, dropout, packing and a shuffled order over several epochs: all that a resumed run
  // must find again.
  static std::vector<std::string> Args(const std::string& out) {
    return Lora(out, {"--max_steps", "240", "--save_strategy", "steps", "--save_steps", "20",
                      "--gradient_accumulation_steps", "2", "--lora_dropout", "0.1",
                      "--dataset_concatenation", "--lr_scheduler_type", "cosine"});
  }
  static const std::string& WantedWeights() {
    static const std::string& weights = *new std::string([] {
      const ToolResult whole = RunTool("run_lora_clm", Args(Path("whole")));
      EXPECT_EQ(whole.exit_code, 0) << whole.err;
      return ReadFileOrFail(Path("whole") + "/adapter_model.safetensors");
    }());
    return weights;
  }
  static void ExpectContinues(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = Args(out);
    args.insert(args.end(), more.begin(), more.end());
    const ToolResult rest = RunTool("run_lora_clm", args);
    ASSERT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_THAT(rest.err, HasSubstr("continuing from"));
    EXPECT_TRUE(ReadFileOrFail(out + "/adapter_model.safetensors") == WantedWeights());
  }
  static bool Exists(const std::string& out, int step) {
    return RealFileSystem().Exists(absl::StrCat(out, "/checkpoint-", step));
  }
};

TEST_F(ResumeTest, AfterControlC) {
  const std::string out = Path("interrupted");
  ToolProcess process("run_lora_clm", Args(out));
  ASSERT_TRUE(process.SignalWhen(SIGINT, [&] { return Exists(out, 20); }));
  const ToolResult first = process.Wait();
  EXPECT_EQ(first.exit_code, 130) << first.err;
  EXPECT_THAT(first.err, HasSubstr("--resume_from_checkpoint"));
  EXPECT_FALSE(RealFileSystem().Exists(out + "/all_results.json"));
  ExpectContinues(out);
}

TEST_F(ResumeTest, AfterKills) {
  const std::string out = Path("killed");
  for (int step : {20, 100}) {
    ToolProcess process("run_lora_clm", Args(out));
    ASSERT_TRUE(process.SignalWhen(SIGKILL, [&] { return Exists(out, step); }));
    EXPECT_EQ(process.Wait().exit_code, 128 + SIGKILL);
  }
  ExpectContinues(out, {"--resume_from_checkpoint", "true"});
}

TEST_F(ResumeTest, FromTheLastWholeCheckpointWhenOneIsDamaged) {
  const std::string& wanted = WantedWeights();
  const std::string state = Path("whole") + "/checkpoint-240/training_state.safetensors";
  const std::string bytes = ReadFileOrFail(state);
  {
    auto file = RealFileSystem().OpenForWrite(state);
    ASSERT_TRUE(file.ok() && (*file)->Append(bytes.substr(0, bytes.size() / 2)).ok());
  }
  const ToolResult rest = RunTool("run_lora_clm", [] {
    std::vector<std::string> args = Args(Path("whole"));
    args.insert(args.end(), {"--resume_from_checkpoint", "True"});
    return args;
  }());
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("checkpoint-240 cannot be continued from"));
  EXPECT_THAT(rest.err, HasSubstr("continuing from"));
  EXPECT_TRUE(ReadFileOrFail(Path("whole") + "/adapter_model.safetensors") == wanted);
}

TEST_F(ResumeTest, RefusesTheCheckpointOfAnotherRun) {
  WantedWeights();
  std::vector<std::string> args = Args(Path("other"));
  args.insert(args.end(), {"--learning_rate", "5e-4", "--resume_from_checkpoint",
                           Path("whole") + "/checkpoint-20"});
  const ToolResult result = RunTool("run_lora_clm", args);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rate 0.001"));
}

TEST_F(ResumeTest, ModelOnlyCheckpointsCannotBeResumed) {
  const std::string out = Path("model_only");
  ASSERT_EQ(RunTool("run_lora_clm", Lora(out, {"--max_steps", "2", "--save_steps", "1",
                                               "--save_strategy", "steps", "--save_only_model"}))
                .exit_code,
            0);
  EXPECT_TRUE(RealFileSystem().Exists(out + "/checkpoint-1/adapter_model.safetensors"));
  EXPECT_FALSE(RealFileSystem().Exists(out + "/checkpoint-1/training_state.safetensors"));
}

}  // namespace
}  // namespace trencadis::tests
