// Command lines as they are typed today: those of the founding cases, and those that upstream's
// documentation and tests contain. Each is read; what is not honoured yet is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/schema/defaults.h"
#include "api/schema/flags.h"
#include "api/schema/load.h"
#include "api/schema/testing/upstream_tools.pb.h"
#include "api/schema/tools.pb.h"
#include "api/schema/validate.h"

namespace trencadis::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Args = std::vector<std::string>;

constexpr char kData[] = "../shared_data/shared/data/configs/trainer_cmdlines/";

// Splits as a POSIX shell does, without expansions: quotes group and go.
Args ShellSplit(absl::string_view line) {
  Args words;
  bool open = false;
  char quote = 0;
  for (const char c : line) {
    const bool boundary = quote == 0 && (c == ' ' || c == '\t' || c == '\n');
    if (boundary) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

template <typename Tool>
Tool Parsed(absl::string_view line) {
  Tool tool;
  const absl::StatusOr<ParsedFlags> flags = ParseFlags(ShellSplit(line), &tool);
  EXPECT_TRUE(flags.ok()) << flags.status() << "\n" << line;
  return tool;
}

std::vector<std::string> BlamedFlags(const google::protobuf::Message& tool) {
  std::vector<std::string> flags;
  for (const Violation& violation : FindViolations(tool)) flags.push_back(violation.flag);
  return flags;
}

TEST(CommandLinesTest, CaseACacheLimit) {
  const auto tool = Parsed<testing::Summarization>(
      R"(--deepspeed ds_flan_t5_z3_config_bf16.json --model_name_or_path flan-t5-xxl --do_train
      --source_prefix '"summarize:"' --dataset_name cnn_dailymail --dataset_config '"3.0.0"'
      --output_dir OUT --per_device_train_batch_size 22 --per_device_eval_batch_size 22
      --learning_rate 0.0001 --overwrite_output_dir --predict_with_generate --use_habana
      --use_lazy_mode False --gaudi_config_name Habana/t5 --ignore_pad_token_for_loss False
      --pad_to_max_length --generation_max_length 129 --save_strategy epoch
      --throughput_warmup_steps 10 --gradient_checkpointing --adam_epsilon 1e-08
      --max_eval_samples 880 --dataloader_num_workers 4 --num_train_epochs 1 --max_steps 400
      --torch_compile_backend hpu_backend --torch_compile use_regional_compilation
      --compile_dynamic False --cache_size_limit 128)");
  EXPECT_EQ(tool.summarization().source_prefix(), "summarize:");
  EXPECT_EQ(tool.data().dataset_config_name(), "3.0.0") << "an abbreviation with doubled quotes";
  EXPECT_FALSE(tool.runtime().use_lazy_mode());
  EXPECT_TRUE(tool.runtime().torch_compile());
  EXPECT_TRUE(tool.runtime().use_regional_compilation());
  EXPECT_TRUE(tool.runtime().has_compile_dynamic());
  EXPECT_FALSE(tool.runtime().compile_dynamic());
  EXPECT_EQ(tool.runtime().cache_size_limit(), 128);
  EXPECT_EQ(tool.training().adam_epsilon(), 1e-08);
  EXPECT_TRUE(tool.summarization().has_ignore_pad_token_for_loss());
  EXPECT_FALSE(tool.summarization().ignore_pad_token_for_loss());
  EXPECT_THAT(BlamedFlags(tool), ElementsAre("--torch_compile", "--torch_compile_backend",
                                             "--use_regional_compilation", "--compile_dynamic",
                                             "--cache_size_limit", "--deepspeed"));
  EXPECT_THAT(Warnings(tool),
              ElementsAre(HasSubstr("--dataset_config_name"), HasSubstr("--gaudi_config_name"),
                          HasSubstr("--dataloader_num_workers")));
}

constexpr char kCaseB[] =
    R"(--model_name_or_path Llama-2-70b-hf --dataset_name tatsu-lab/alpaca --bf16 True
    --output_dir ./lora_out --num_train_epochs 1 --max_seq_len 2048
    --per_device_train_batch_size 10 --per_device_eval_batch_size 10 --gradient_checkpointing
    --evaluation_strategy epoch --eval_delay 2 --save_strategy no --learning_rate 0.0018
    --warmup_ratio 0.03
    --lr_scheduler_type "cosine" --logging_steps 1 --dataset_concatenation
    --attn_softmax_bf16 True --do_train --do_eval --use_habana --use_lazy_mode
    --pipelining_fwd_bwd --throughput_warmup_steps 3 --lora_rank 4
    --lora_target_modules "q_proj" "v_proj" "k_proj" "o_proj" --validation_split_percentage 4
    --use_flash_attention True)";

TEST(CommandLinesTest, CaseBLora) {
  const auto tool =
      Parsed<RunLoraClm>(absl::StrCat("--deepspeed llama2_ds_zero3_config.json ", kCaseB));
  EXPECT_EQ(tool.data().max_seq_length(), 2048) << "an abbreviation";
  EXPECT_EQ(tool.training().eval_strategy(), "epoch") << "an alias";
  EXPECT_EQ(tool.training().lr_scheduler_type(), "cosine");
  EXPECT_THAT(tool.finetune().lora_target_modules(),
              ElementsAre("q_proj", "v_proj", "k_proj", "o_proj"));
  EXPECT_TRUE(tool.attention().use_flash_attention());
  EXPECT_EQ(tool.training().eval_delay(), 2);
  EXPECT_TRUE(tool.runtime().pipelining_fwd_bwd());
  EXPECT_THAT(BlamedFlags(tool), ElementsAre("--deepspeed"));
}

TEST(CommandLinesTest, CaseBOnOneRankIsAccepted) {
  const absl::StatusOr<Loaded<RunLoraClm>> loaded = Load<RunLoraClm>(ShellSplit(kCaseB));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_FALSE(loaded->help.has_value());
  EXPECT_THAT(loaded->warnings, ElementsAre(HasSubstr("--use_flash_attention has no effect"),
                                            HasSubstr("--attn_softmax_bf16 has no effect")));
  EXPECT_EQ(loaded->options.finetune().lora_alpha(), 16) << "the default";
  EXPECT_FALSE(loaded->given.finetune().has_lora_alpha());
  EXPECT_EQ(loaded->options.training().warmup_ratio(), 0.03);
}

TEST(CommandLinesTest, CaseCFsdp) {
  const auto tool = Parsed<testing::QuestionAnswering>(
      R"(--model_name_or_path bert-base-uncased --do_train --do_eval --fsdp "full_shard"
      --fsdp_config fsdp_config.json --dataset_name squad --max_seq_length 384 --doc_stride 128
      --per_device_train_batch_size 24 --per_device_eval_batch_size 8 --learning_rate 3e-05
      --num_train_epochs 2.0 --logging_steps 20 --save_steps 5000 --seed 42
      --overwrite_output_dir --throughput_warmup_steps 100 --torch_compile
      --torch_compile_backend hpu_backend --use_habana)");
  EXPECT_EQ(tool.sharding().fsdp(), "full_shard");
  EXPECT_EQ(tool.training().learning_rate(), 3e-05);
  EXPECT_EQ(tool.question().doc_stride(), 128);
  EXPECT_THAT(BlamedFlags(tool),
              ElementsAre("--torch_compile", "--torch_compile_backend", "--fsdp", "--fsdp_config"));
}

TEST(CommandLinesTest, GenerationAsUpstreamDocumentsIt) {
  const auto tool = Parsed<RunGeneration>(
      R"(--model_name_or_path m --use_kv_cache --max_new_tokens 200 --do_sample --prompt
      "Hello world" 'She said "no"' --no-ignore-eos --temperature 0.8 --top_p .9 -d hpu --bf16)");
  EXPECT_THAT(tool.generation().prompt(), ElementsAre("Hello world", "She said \"no\""));
  EXPECT_TRUE(tool.generation().has_ignore_eos());
  EXPECT_FALSE(tool.generation().ignore_eos());
  EXPECT_TRUE(Validate(tool).ok()) << Validate(tool);
  EXPECT_THAT(Warnings(tool), ElementsAre(HasSubstr("--use_kv_cache has no effect")));
  EXPECT_THAT(BlamedFlags(Parsed<RunGeneration>("--model_name_or_path m --num_beams 4")),
              ElementsAre("--num_beams"));
  EXPECT_THAT(BlamedFlags(Parsed<RunGeneration>("--num_beams 1")),
              ElementsAre("--model_name_or_path"));
}

TEST(CommandLinesTest, RejectsWhatUpstreamRejects) {
  const std::string run = "--model_name_or_path m --do_train --train_file t ";
  for (const char* flag :
       {"--fp16", "--fp16_full_eval", "--tf32 True", "--mp_parameters x", "--tpu_num_cores 8",
        "--tpu_metrics_debug", "--warmup_ratio 1.5", "--distribution_strategy slow",
        "--throughput_warmup_steps -1", "--lr_scheduler_type square", "--optim adam9"}) {
    const std::string name = Args(absl::StrSplit(flag, ' '))[0];
    EXPECT_THAT(BlamedFlags(Parsed<RunLoraClm>(run + flag)), ElementsAre(name)) << flag;
  }
  for (const char* fine : {"--fp16 False", "--tf32 False", "--fp16_opt_level O1",
                           "--lr_scheduler_type constant_with_warmup", "--fsdp ''"}) {
    EXPECT_THAT(BlamedFlags(Parsed<RunLoraClm>(run + fine)), ::testing::IsEmpty()) << fine;
  }
}

// Flags of upstream's examples that are refused by name for now.
const std::set<std::string>& RefusedInExamples() {
  static const auto& flags = *new std::set<std::string>{"--adalora_delta_t",
                                                        "--adalora_tfinal",
                                                        "--adapter_layers",
                                                        "--adapter_len",
                                                        "--context_parallel_size",
                                                        "--deepspeed",
                                                        "--fp8",
                                                        "--fsdp",
                                                        "--fsdp_config",
                                                        "--ia3_target_modules",
                                                        "--ln_target_modules",
                                                        "--peft_type",
                                                        "--torch_compile",
                                                        "--torch_compile_backend",
                                                        "--use_hpu_graphs_for_inference",
                                                        "--vera_target_modules"};
  return flags;
}

template <typename Tool>
void ExpectKnown(absl::string_view line) {
  for (const std::string& flag : BlamedFlags(Parsed<Tool>(line))) {
    EXPECT_TRUE(RefusedInExamples().contains(flag)) << flag << " of " << line;
  }
}

TEST(CommandLinesTest, ReadsUpstreamDocumentation) {
  std::ifstream file(absl::StrCat(kData, "commands.tsv"));
  if (!file) GTEST_SKIP() << "the shared data is absent";
  int read = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t script = line.find("run_clm.py ");
    if (script == std::string::npos || absl::StrContains(line, "[...]")) continue;
    ExpectKnown<RunClm>(absl::string_view(line).substr(script + sizeof("run_clm.py ") - 1));
    ++read;
  }
  EXPECT_GE(read, 6);
}

// The example arguments of upstream's tests: model -> device -> data set -> distribution.
template <typename Tool>
int ReadExamples(const std::string& model) {
  std::ifstream file(absl::StrCat(kData, "optimum-habana_tests_configs_examples/", model, ".json"));
  const nlohmann::json devices = nlohmann::json::parse(file);
  int read = 0;
  for (const auto& [device, data_sets] : devices.items()) {
    for (const auto& [data_set, example] : data_sets.items()) {
      const bool other_script =
          absl::StartsWith(data_set, "trl-") || absl::EndsWith(data_set, "-tuning");
      if (other_script) continue;
      for (const auto& [distribution, run] : example.at("distribution").items()) {
        std::string line = absl::StrCat("--model_name_or_path ", model,
                                        " --dataset_name d --do_train --use_habana");
        for (const auto& argument : run.at("extra_arguments")) {
          absl::StrAppend(&line, " ", argument.template get<std::string>());
        }
        ExpectKnown<Tool>(line);
        ++read;
      }
    }
  }
  return read;
}

TEST(CommandLinesTest, ReadsTheExamplesOfUpstreamTests) {
  if (!std::ifstream(absl::StrCat(kData, "commands.tsv"))) {
    GTEST_SKIP() << "the shared data is absent";
  }
  int read = 0;
  for (const char* model : {"gpt2", "gpt2_xl", "CodeLlama_13b_Instruct_hf", "gpt_neox_20b",
                            "gemma_2b_it", "gemma_2b_it_eager", "bloom_7b1", "chatglm3_6b"}) {
    read += ReadExamples<RunClm>(model);
  }
  for (const char* model : {"llama_7b", "falcon_40b", "Llama_3_1_8B"}) {
    read += ReadExamples<RunLoraClm>(model);
  }
  EXPECT_GE(read, 40);
}

// A default that is not of its field's type would end the program when it is applied.
TEST(DefaultsOfToolsTest, AreWellFormedAndValid) {
  EXPECT_GT(GivenOptions(Resolved(RunClm())).size(), 100u);
  EXPECT_GT(GivenOptions(Resolved(RunLoraClm())).size(), 100u);
  EXPECT_GT(GivenOptions(Resolved(RunGeneration())).size(), 50u);
  EXPECT_EQ(Validate(Resolved(RunGeneration())), Validate(RunGeneration()));
}

TEST(DefaultsOfToolsTest, AreUpstreams) {
  const RunLoraClm lora = Resolved(RunLoraClm());
  EXPECT_EQ(lora.training().adam_epsilon(), 1e-6);
  EXPECT_EQ(lora.training().learning_rate(), 5e-5);
  EXPECT_EQ(lora.training().optim(), "adamw_torch");
  EXPECT_TRUE(lora.runtime().use_lazy_mode());
  EXPECT_EQ(lora.sharding().ddp_bucket_cap_mb(), 230);
  EXPECT_EQ(lora.data().max_seq_length(), 512);
  EXPECT_EQ(lora.data().validation_split_percentage(), 0);
  EXPECT_EQ(lora.finetune().lora_rank(), 8);
  EXPECT_EQ(Resolved(RunClm()).data().validation_split_percentage(), 5);
  const RunGeneration generation = Resolved(RunGeneration());
  EXPECT_EQ(generation.generation().max_new_tokens(), 100);
  EXPECT_EQ(generation.generation().seed(), 27);
  EXPECT_TRUE(generation.generation().ignore_eos());
}

TEST(LoadTest, PrintsHelpAndKeepsQuietElse) {
  const absl::StatusOr<Loaded<RunClm>> loaded = Load<RunClm>({"-h"});
  ASSERT_TRUE(loaded.ok());
  EXPECT_THAT(loaded->help.value(), HasSubstr("usage: run_clm"));
  EXPECT_EQ(Load<RunClm>({"--do_train"}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trencadis::schema
