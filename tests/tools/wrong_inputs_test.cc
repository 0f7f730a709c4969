// What a tool says and returns when it cannot do what it is told: one line, and the exit code.
#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file.h"
#include "tests/tools/tools_test_case.h"

namespace trencadis::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class WrongInputsTest : public ToolsTestCase {};

struct WrongInput {
  std::string tool;
  std::vector<std::string> args;
  std::string says;
};

int ErrorLines(const std::string& err) {
  int lines = 0;
  for (absl::string_view line : absl::StrSplit(err, '\n'))
    lines += absl::StartsWith(line, "error:");
  return lines;
}

void WriteTo(const std::string& path, const std::string& text) {
  auto file = RealFileSystem().OpenForWrite(path);
  ASSERT_TRUE(file.ok() && (*file)->Append(text).ok());
}

TEST_F(WrongInputsTest, AreNamedInOneLineWithExitCodeTwo) {
  WriteTo(Path("bad.jsonl"), "{\"text\": \"fine\"}\n{\"text\": 7}\n");
  WriteTo(Path("empty.jsonl"), "");
  WriteTo(Path("data.csv"), "a,b\n");
  ASSERT_TRUE(RealFileSystem().CreateDirectories(Path("hollow")).ok());
  const std::string out = Path("never");
  const std::vector<std::string> generation = {"--model_name_or_path", Base(), "--prompt"};
  const std::vector<WrongInput> inputs = {
      {"run_clm", Clm(out, {"--train_file", Path("nothing.jsonl")}), "nothing.jsonl"},
      {"run_clm", Clm(out, {"--train_file", Path("bad.jsonl")}), "line 2"},
      {"run_clm", Clm(out, {"--train_file", Path("empty.jsonl")}), "no row"},
      {"run_clm", Clm(out, {"--train_file", Path("data.csv")}), "wanted a file named"},
      {"run_clm", Clm(out, {"--config_name", Path("hollow")}), "config.json"},
      {"run_clm", Clm(out, {"--learning_rate", "fast"}), "--learning_rate"},
      {"run_clm", Clm(out, {"--lerning_rate", "1"}), "--learning_rate"},
      {"run_clm", Clm(out, {"--fp16"}), "--bf16"},
      {"run_clm", Clm(out, {"--output_dir", Path("bad.jsonl") + "/x"}), "bad.jsonl"},
      {"run_clm", Clm(Base()), "--overwrite_output_dir"},
      {"run_clm", Clm(out, {"--resume_from_checkpoint", Path("hollow")}), "no checkpoint"},
      {"run_clm", {"--do_train"}, "--model_name_or_path"},
      {"run_lora_clm", Lora(out, {"--model_name_or_path", Path("hollow")}), "config.json"},
      {"run_lora_clm", Lora(out, {"--model_name_or_path", Path("gone")}), "gone"},
      {"run_lora_clm", Lora(out, {"--lora_target_modules", "w_proj"}), "q_proj"},
      {"run_lora_clm", Lora(out, {"--instruction_column_name", "task"}), "'task'"},
      {"run_generation", {"--model_name_or_path", Base()}, "--prompt"},
      {"run_generation", {"--prompt", "x"}, "--model_name_or_path"},
      {"run_generation",
       {"--model_name_or_path", Base(), "--prompt", "x", "--peft_model", Path("hollow")},
       "adapter_config.json"},
      {"run_generation",
       {"--model_name_or_path", Base(), "--prompt", "x", "--max_new_tokens", "5000"},
       "positions"},
      {"graph", {"--config_name", Path("hollow")}, "config.json"},
      {"graph", {"--config_name", Config(), "--disable_passes", "magic"}, "magic"},
  };
  for (const WrongInput& input : inputs) {
    const ToolResult result = RunTool(input.tool, input.args);
    SCOPED_TRACE(input.tool + " " + input.args.back() + "\n" + result.err);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(ErrorLines(result.err), 1);
    EXPECT_THAT(result.err, HasSubstr(input.says));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_FALSE(RealFileSystem().Exists(out + "/config.json"));
}

TEST_F(WrongInputsTest, TooLittleDeviceMemoryIsExitCodeThree) {
  const ToolResult run = RunTool("run_clm", Clm(Path("tight"), {"--device_memory_gb", "0.0005"}));
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_EQ(ErrorLines(run.err), 1) << run.err;
  const ToolResult plan =
      RunTool("run_clm", Clm(Path("tight"), {"--device_memory_gb", "0.0005", "--plan"}));
  EXPECT_EQ(plan.exit_code, 3) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("the job needs"));
}

TEST_F(WrongInputsTest, HelpIsOnStandardOutput) {
  for (const char* tool : {"run_clm", "run_lora_clm", "run_generation", "graph"}) {
    for (const char* flag : {"-h", "--help"}) {
      const ToolResult result = RunTool(tool, {flag});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(result.out, StartsWith(std::string("usage: ") + tool));
      EXPECT_EQ(result.err, "");
    }
  }
}

}  // namespace
}  // namespace trencadis::tests
