// Each tool on its happy path, as a user starts it, with the files and JSON lines that it promises.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/model_directory.h"
#include "models/checkpoint/peft.h"
#include "runtime/base/file.h"
#include "tests/tools/tools_test_case.h"

namespace trencadis::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ToolsTest : public ToolsTestCase {};

void ExpectKeys(const json& object, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key << " in " << object;
}

// docs/design.md's case B: what all_results.json holds.
const std::vector<std::string>& ResultKeys() {
  static const auto& keys = *new std::vector<std::string>{"epoch",
                                                          "eval_accuracy",
                                                          "eval_loss",
                                                          "eval_runtime",
                                                          "eval_samples",
                                                          "eval_samples_per_second",
                                                          "eval_steps_per_second",
                                                          "max_memory_allocated (GB)",
                                                          "memory_allocated (GB)",
                                                          "perplexity",
                                                          "total_memory_available (GB)",
                                                          "train_loss",
                                                          "train_runtime",
                                                          "train_samples_per_second",
                                                          "train_steps_per_second"};
  return keys;
}

TEST_F(ToolsTest, RunClmWritesModelAndResults) {
  const std::string out = Path("clm");
  const ToolResult result = RunTool(
      "run_clm", Clm(out, {"--json", "--do_eval", "--max_steps", "4", "--logging_steps", "2",
                           "--validation_split_percentage", "20", "--torch_dtype", "bfloat16"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> lines = result.JsonLines();
  ASSERT_EQ(lines.size(), 3u) << result.out;
  EXPECT_EQ(lines[0]["event"], "log");
  EXPECT_EQ(lines[0]["step"], 2);
  ExpectKeys(lines[0], {"loss", "grad_norm", "learning_rate", "epoch"});
  EXPECT_EQ(lines[2]["event"], "results");
  ExpectKeys(lines[2], ResultKeys());
  ExpectKeys(json::parse(ReadFileOrFail(out + "/all_results.json")), ResultKeys());
  EXPECT_GT(lines[2]["eval_accuracy"], 0);
  const auto model = checkpoint::OpenModel(out);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->config.torch_dtype, "bfloat16");
  EXPECT_TRUE(RealFileSystem().Exists(out + "/tokenizer.model"));
}

TEST_F(ToolsTest, EvaluationAloneEqualsTheOneAfterTraining) {
  const std::vector<std::string> data = {
      "--do_eval",    "--validation_file", Path("data/instructions_held_out.json"),
      "--json",       "--max_seq_length",  "96",
      "--output_dir", Path("alone"),       "--model_name_or_path",
      Base()};
  const ToolResult alone = RunTool("run_lora_clm", data);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  // A rate of zero leaves the adapter, and its effect, at nothing.
  const ToolResult after = RunTool(
      "run_lora_clm", Lora(Path("after"), {"--do_eval", "--validation_file",
                                           Path("data/instructions_held_out.json"), "--json",
                                           "--max_steps", "2", "--learning_rate", "0"}));
  ASSERT_EQ(after.exit_code, 0) << after.err;
  EXPECT_EQ(alone.JsonLines().back()["eval_loss"], after.JsonLines().back()["eval_loss"]);
  EXPECT_FALSE(RealFileSystem().Exists(Path("alone") + "/adapter_model.safetensors"));
}

TEST_F(ToolsTest, RunLoraClmTakesTheFoundingCommandLine) {
  const std::string out = Path("case_b");
  const ToolResult result = RunTool("run_lora_clm", {"--model_name_or_path",
                                                     Base(),
                                                     "--dataset_name",
                                                     Path("data/instructions_held_out.json"),
                                                     "--bf16",
                                                     "True",
                                                     "--output_dir",
                                                     out,
                                                     "--num_train_epochs",
                                                     "1",
                                                     "--max_seq_len",
                                                     "64",
                                                     "--per_device_train_batch_size",
                                                     "10",
                                                     "--per_device_eval_batch_size",
                                                     "10",
                                                     "--gradient_checkpointing",
                                                     "--evaluation_strategy",
                                                     "epoch",
                                                     "--eval_delay",
                                                     "2",
                                                     "--save_strategy",
                                                     "no",
                                                     "--learning_rate",
                                                     "0.0018",
                                                     "--warmup_ratio",
                                                     "0.03",
                                                     "--lr_scheduler_type",
                                                     "cosine",
                                                     "--logging_steps",
                                                     "1",
                                                     "--dataset_concatenation",
                                                     "--attn_softmax_bf16",
                                                     "True",
                                                     "--do_train",
                                                     "--do_eval",
                                                     "--use_habana",
                                                     "--use_lazy_mode",
                                                     "--pipelining_fwd_bwd",
                                                     "--throughput_warmup_steps",
                                                     "3",
                                                     "--lora_rank",
                                                     "4",
                                                     "--lora_target_modules",
                                                     "q_proj",
                                                     "v_proj",
                                                     "k_proj",
                                                     "o_proj",
                                                     "--validation_split_percentage",
                                                     "4",
                                                     "--use_flash_attention",
                                                     "True",
                                                     "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  int evaluations_in_training = 0;
  for (const json& line : result.JsonLines()) {
    evaluations_in_training += line["event"] == "log" && line.contains("eval_loss");
  }
  EXPECT_EQ(evaluations_in_training, 0) << "one epoch ends before the delay of two";
  ExpectKeys(json::parse(ReadFileOrFail(out + "/all_results.json")), ResultKeys());
  const auto adapter = checkpoint::OpenPeftAdapter(out);
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_EQ(adapter->config.r, 4);
  EXPECT_EQ(adapter->modules.size(), 8u);
}

TEST_F(ToolsTest, PlanIsWhatTheRunNeeds) {
  const std::vector<std::string> more = {
      "--json", "--max_steps", "6", "--do_eval", "--validation_split_percentage", "20"};
  std::vector<std::string> planning = more;
  planning.push_back("--plan");
  const ToolResult planned = RunTool("run_lora_clm", Lora(Path("planned"), planning));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_FALSE(RealFileSystem().Exists(Path("planned")));
  const json plan = planned.JsonLines().back();
  EXPECT_EQ(plan["event"], "plan");
  ExpectKeys(plan, {"max_memory_allocated (GB)", "persistent_memory (GB)", "workspace (GB)",
                    "compilations", "flops_per_step", "steps", "fits"});
  EXPECT_EQ(plan["steps"], 6);
  EXPECT_EQ(plan["fits"], 1);
  // The run fits into what the plan says and not into less.
  const double needed = plan["max_memory_allocated (GB)"];
  const auto run_with = [&](double gigabytes, const std::string& out) {
    std::vector<std::string> args = more;
    args.insert(args.end(), {"--device_memory_gb", absl::StrCat(gigabytes)});
    return RunTool("run_lora_clm", Lora(out, args));
  };
  const ToolResult enough = run_with(needed * 1.001, Path("enough"));
  EXPECT_EQ(enough.exit_code, 0) << enough.err;
  const ToolResult less = run_with(needed * 0.99, Path("less"));
  EXPECT_EQ(less.exit_code, 3) << less.err;
  EXPECT_THAT(less.err, HasSubstr("out of device memory"));
}

TEST_F(ToolsTest, RunGenerationPrintsOneLinePerPrompt) {
  ASSERT_EQ(RunTool("run_lora_clm", Lora(Path("adapter"), {"--max_steps", "2"})).exit_code, 0);
  const ToolResult result =
      RunTool("run_generation",
              {"--model_name_or_path", Base(), "--peft_model", Path("adapter"), "--json",
               "--max_new_tokens", "8", "--batch_size", "2", "--output_dir", Path("generated"),
               "--prompt", "The tile is blue", "The", "There is a green tile on the wall"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> lines = result.JsonLines();
  ASSERT_EQ(lines.size(), 3u);
  for (const json& line : lines) {
    ExpectKeys(line, {"prompt", "text", "tokens", "metrics"});
    EXPECT_EQ(line["tokens"].size(), 8u);
    ExpectKeys(line["metrics"],
               {"graph_compilation", "recipe_cache", "memory", "tokens_per_second"});
    ExpectKeys(line["metrics"]["graph_compilation"], {"TotalNumber", "TotalTime", "AvgTime"});
    ExpectKeys(line["metrics"]["memory"], {"Limit", "InUse", "MaxInUse", "NumAllocs"});
  }
  EXPECT_EQ(lines[1]["prompt"], "The");
  const json written = json::parse(ReadFileOrFail(Path("generated") + "/results.json"));
  EXPECT_EQ(written["input"].size(), 3u);
  EXPECT_EQ(written["output"][1], absl::StrCat("The", lines[1]["text"].get<std::string>()));
}

TEST_F(ToolsTest, BatchesAndBucketsDoNotChangeTheText) {
  const std::vector<std::string> prompts = {"--prompt", "The tile is blue", "A",
                                            "There is a green tile on the wall"};
  const auto texts = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--model_name_or_path", Base(), "--json", "--max_new_tokens", "12"});
    more.insert(more.end(), prompts.begin(), prompts.end());
    const ToolResult result = RunTool("run_generation", more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<json> tokens;
    for (const json& line : result.JsonLines()) tokens.push_back(line["tokens"]);
    return tokens;
  };
  const std::vector<json> alone = texts({});
  EXPECT_EQ(alone.size(), 3u);
  EXPECT_EQ(texts({"--batch_size", "3"}), alone);
  EXPECT_EQ(texts({"--batch_size", "4", "--bucket_size", "10"}), alone);
  EXPECT_EQ(texts({"--max_input_tokens", "30", "--batch_size", "2"}), alone);
}

TEST_F(ToolsTest, RunGenerationMeasuresOnRequest) {
  const ToolResult result =
      RunTool("run_generation", {"--model_name_or_path", Base(), "--prompt", "The",
                                 "--max_new_tokens", "4", "--warmup", "1", "--n_iterations", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("tokens/second"));
  EXPECT_THAT(result.out, HasSubstr("Graph compilation duration"));
}

TEST_F(ToolsTest, GraphShowsAndWritesAStep) {
  for (const char* step : {"train", "evaluate", "decode"}) {
    const std::string out = Path(absl::StrCat("graph_", step));
    const ToolResult result = RunTool("graph", {"--config_name", Config(), "--step", step,
                                                "--output_dir", out, "--max_seq_length", "32"});
    ASSERT_EQ(result.exit_code, 0) << step << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr("flops"));
    for (const char* file : {"graph.txt", "graph.dot", "optimised.txt", "optimised.dot",
                             "recipe.txt", "plan.txt", "plan.svg", "timeline.json"}) {
      EXPECT_FALSE(ReadFileOrFail(JoinPath(out, file)).empty()) << file;
    }
    const json timeline = json::parse(ReadFileOrFail(JoinPath(out, "timeline.json")));
    EXPECT_GT(timeline["traceEvents"].size(), 10u);
  }
  const ToolResult shown = RunTool("graph", {"--model_name_or_path", Base(), "--lora", "--show",
                                             "optimised", "--max_seq_length", "32"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("return %"));
}

TEST_F(ToolsTest, DumpsTheBatchesOfSteps) {
  const std::string dump = Path("batches.jsonl");
  const ToolResult result =
      RunTool("run_clm", Clm(Path("dumped"), {"--max_steps", "3", "--do_eval", "--eval_strategy",
                                              "steps", "--eval_steps", "1", "--dump_batches", dump,
                                              "--validation_split_percentage", "10",
                                              "--gradient_accumulation_steps", "2"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ToolResult steps{.out = ReadFileOrFail(dump)};
  EXPECT_EQ(steps.JsonLines().size(), 6u);
  const ToolResult evaluation{.out = ReadFileOrFail(dump + ".eval")};
  const std::vector<json> batches = evaluation.JsonLines();
  ASSERT_FALSE(batches.empty());
  for (size_t i = 0; i < batches.size(); ++i) EXPECT_EQ(batches[i]["step"], i);
}

}  // namespace
}  // namespace trencadis::tests
