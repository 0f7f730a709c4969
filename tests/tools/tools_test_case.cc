#include "tests/tools/tools_test_case.h"

#include "runtime/base/file.h"

namespace trencadis::tests {
namespace {

constexpr char kSmallConfig[] = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 400,
  "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "max_position_embeddings": 128, "tie_word_embeddings": true,
  "bos_token_id": 1, "eos_token_id": 2})";

std::vector<std::string> Joined(std::vector<std::string> args,
                                const std::vector<std::string>& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

void WriteText(const std::string& path, const std::string& text) {
  auto file = RealFileSystem().OpenForWrite(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->Append(text).ok());
}

}  // namespace

std::string ReadFileOrFail(const std::string& path) {
  const absl::StatusOr<std::string> text = RealFileSystem().ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

std::string ToolsTestCase::Path(const std::string& name) {
  return JoinPath(testing::TempDir(), name);
}

void ToolsTestCase::SetUpTestSuite() {
  if (RealFileSystem().Exists(Base())) return;
  ASSERT_TRUE(RealFileSystem().CreateDirectories(Config()).ok());
  WriteText(JoinPath(Config(), "config.json"), kSmallConfig);
  for (const auto& [tool, args] :
       {std::pair<std::string, std::vector<std::string>>{"quickstart/make_corpus", {Path("data")}},
        {"quickstart/make_tokenizer", {Path("data"), Config()}},
        {"run_clm", Clm(Base(), {"--max_steps", "3"})}}) {
    const ToolResult result = RunTool(tool, args);
    ASSERT_EQ(result.exit_code, 0) << tool << ": " << result.err;
  }
}

std::vector<std::string> ToolsTestCase::Clm(const std::string& output,
                                            const std::vector<std::string>& more) {
  return Joined({"--config_name", Config(), "--train_file", Path("data/corpus_held_out.jsonl"),
                 "--do_train", "--block_size", "32", "--per_device_train_batch_size", "4",
                 "--learning_rate", "1e-3", "--save_strategy", "no", "--output_dir", output},
                more);
}

std::vector<std::string> ToolsTestCase::Lora(const std::string& output,
                                             const std::vector<std::string>& more) {
  return Joined(
      {"--model_name_or_path", Base(), "--train_file", Path("data/instructions_held_out.json"),
       "--do_train", "--max_seq_length", "96", "--per_device_train_batch_size", "4",
       "--learning_rate", "1e-3", "--save_strategy", "no", "--output_dir", output},
      more);
}

}  // namespace trencadis::tests
