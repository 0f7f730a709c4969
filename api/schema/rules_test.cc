#include "api/schema/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/schema/flags.h"
#include "api/schema/tools.pb.h"
#include "api/schema/validate.h"

namespace trencadis::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Args = std::vector<std::string>;

// "flag: problem" of the rules that a run_lora_clm command line breaks.
template <typename Tool = RunLoraClm>
std::vector<std::string> Broken(const Args& args) {
  Tool tool;
  const absl::StatusOr<ParsedFlags> flags = ParseFlags(args, &tool);
  EXPECT_TRUE(flags.ok()) << flags.status();
  std::vector<std::string> lines;
  for (const Violation& violation : BrokenRules(tool)) {
    lines.push_back(absl::StrCat(violation.flag, ": ", violation.problem));
  }
  return lines;
}

Args Training(const Args& more) {
  Args args = {"--model_name_or_path", "m", "--do_train", "--train_file", "t.txt"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(RulesTest, AcceptsAPlainRun) { EXPECT_THAT(Broken(Training({})), IsEmpty()); }

TEST(RulesTest, WantsAModel) {
  EXPECT_THAT(
      Broken({"--do_train", "--train_file", "t"}),
      ElementsAre("--model_name_or_path: is missing; name a model directory or GGUF file, or "
                  "train a new model with --config_name"));
  EXPECT_THAT(Broken({"--do_train", "--train_file", "t", "--config_name", "c"}), IsEmpty());
}

TEST(RulesTest, WantsSomethingToDoAndData) {
  EXPECT_THAT(Broken({"--model_name_or_path", "m"}),
              ElementsAre("--do_train: there is nothing to do; add --do_train, --do_eval or both"));
  EXPECT_THAT(Broken({"--model_name_or_path", "m", "--do_train"}),
              ElementsAre("--train_file: is missing; --do_train needs it or --dataset_name"));
  EXPECT_THAT(Broken(Training({"--num_train_epochs", "0"})),
              ElementsAre("--num_train_epochs: got 0, wanted more, or a positive --max_steps"));
  EXPECT_THAT(Broken(Training({"--num_train_epochs", "0", "--max_steps", "3"})), IsEmpty());
}

TEST(RulesTest, WantsEvaluationDataOrASplit) {
  const std::string missing =
      "--validation_file: is missing; evaluation needs it, or a --validation_split_percentage "
      "above "
      "0 of the training data";
  EXPECT_THAT(Broken(Training({"--do_eval"})), ElementsAre(missing));
  EXPECT_THAT(Broken(Training({"--eval_strategy", "epoch"})), ElementsAre(missing));
  EXPECT_THAT(Broken(Training({"--do_eval", "--validation_split_percentage", "4"})), IsEmpty());
  EXPECT_THAT(Broken(Training({"--do_eval", "--validation_file", "v"})), IsEmpty());
  EXPECT_THAT(Broken<RunClm>(Training({"--do_eval"})), IsEmpty()) << "run_clm splits by default";
  EXPECT_THAT(
      Broken({"--model_name_or_path", "m", "--do_eval", "--validation_split_percentage", "4"}),
      ElementsAre(missing));
}

TEST(RulesTest, WantsWholeStepsAboveOne) {
  EXPECT_THAT(Broken(Training({"--logging_steps", "0.1", "--save_steps", "10"})), IsEmpty());
  EXPECT_THAT(Broken(Training({"--logging_steps", "1.5", "--save_steps", "2.5"})),
              ElementsAre("--logging_steps: got 1.5, wanted a whole number of steps, or a part of "
                          "all steps below 1",
                          "--save_steps: got 2.5, wanted a whole number of steps, or a part of all "
                          "steps below 1"));
  EXPECT_THAT(Broken(Training({"--logging_steps", "0"})),
              ElementsAre("--logging_steps: got 0, wanted more with --logging_strategy steps; use "
                          "--logging_strategy no for never"));
  EXPECT_THAT(Broken(Training({"--logging_steps", "0", "--logging_strategy", "epoch"})), IsEmpty());
  const Args evaluating = {"--validation_file", "v", "--eval_strategy", "steps"};
  EXPECT_THAT(Broken(Training(evaluating)), IsEmpty()) << "--logging_steps stands in";
}

TEST(RulesTest, WantsHpuGraphsOnTheHpuInLazyMode) {
  EXPECT_THAT(Broken(Training({"--use_hpu_graphs_for_training"})),
              ElementsAre("--use_hpu_graphs_for_training: cannot be used without --use_habana; add "
                          "it"));
  EXPECT_THAT(Broken(Training({"--use_habana", "--use_lazy_mode", "False", "--use_hpu_graphs"})),
              ElementsAre("--use_hpu_graphs: cannot be used in eager mode; use --use_lazy_mode "
                          "true"));
  EXPECT_THAT(Broken(Training({"--gaudi_config_name", "g"})),
              ElementsAre("--gaudi_config_name: cannot be used without --use_habana; add it"));
  EXPECT_THAT(Broken(Training(
                  {"--use_habana", "--max_hpu_graphs", "3", "--disable_tensor_cache_hpu_graphs"})),
              ElementsAre(::testing::StartsWith("--disable_tensor_cache_hpu_graphs: means nothing"),
                          ::testing::StartsWith("--max_hpu_graphs: means nothing")));
}

TEST(RulesTest, ReachViolationsWithTheirPath) {
  RunClm tool;
  tool.mutable_model()->set_model_name_or_path("m");
  ASSERT_EQ(FindViolations(tool).size(), 1u);
  EXPECT_EQ(FindViolations(tool)[0].path, "$.training.do_train");
}

}  // namespace
}  // namespace trencadis::schema
