#include "models/checkpoint/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string NewDirectory(const std::string& name) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  EXPECT_TRUE(RemoveRecursively(path).ok());
  return path;
}

constexpr char kModule[] = "model.layers.0.self_attn.q_proj";

TEST(PeftTest, NamesAreThoseOfPeft) {
  EXPECT_EQ(LoraAName(kModule), "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
  EXPECT_EQ(LoraBName(kModule), "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight");
  EXPECT_EQ(SavedModuleName("lm_head.weight"), "base_model.model.lm_head.weight");
}

TEST(PeftTest, AdapterRoundTrips) {
  const std::string directory = NewDirectory("adapter");
  const PeftConfig config{.base_model_name_or_path = "base",
                          .r = 2,
                          .lora_alpha = 16,
                          .lora_dropout = 0.05,
                          .target_modules = {"q_proj", "v_proj"},
                          .modules_to_save = {"lm_head"}};
  const Literal a = Literal::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal b = Literal::FromVector<float>({1, 2}, {7, 8});
  ASSERT_TRUE(WritePeftAdapter(directory, config,
                               {ToWrite(LoraAName(kModule), a), ToWrite(LoraBName(kModule), b),
                                ToWrite(SavedModuleName("lm_head.weight"), b)})
                  .ok());
  auto adapter = OpenPeftAdapter(directory);
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_EQ(adapter->config, config);
  EXPECT_THAT(adapter->modules, ElementsAre(kModule));
  EXPECT_EQ(*adapter->tensors->Read(LoraAName(kModule)), a);
}

TEST(PeftTest, ReadsRegexTargets) {
  auto config = ParsePeftConfig(R"({"peft_type":"LORA","target_modules":".*_proj"})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->target_modules_is_regex);
  auto again = ParsePeftConfig(PeftConfigToJson(*config));
  EXPECT_EQ(*again, *config);
}

TEST(PeftTest, RefusesWhatIsNotPlainLora) {
  const auto error = [](const std::string& more) {
    return std::string(
        ParsePeftConfig(absl::StrCat(R"({"peft_type":"LORA",)", more, "}")).status().message());
  };
  EXPECT_THAT(ParsePeftConfig(R"({"peft_type":"IA3"})").status().message(), HasSubstr("'IA3'"));
  EXPECT_THAT(error(R"("use_dora":true)"), HasSubstr("use_dora"));
  EXPECT_THAT(error(R"("bias":"all")"), HasSubstr("\"bias\" is \"all\""));
  EXPECT_THAT(error(R"("rank_pattern":{"q_proj":4})"), HasSubstr("rank_pattern"));
  EXPECT_THAT(error(R"("r":0)"), HasSubstr("\"r\" is 0"));
  EXPECT_THAT(error(R"("r":"8")"), HasSubstr("\"r\" is \"8\"; wanted an integer"));
  EXPECT_THAT(error(R"("lora_dropout":1.0)"), HasSubstr("lora_dropout"));
  EXPECT_THAT(error(R"("target_modules":{"a":1})"), HasSubstr("target_modules"));
}

TEST(PeftTest, RefusesIncompleteAdapters) {
  const std::string directory = NewDirectory("incomplete");
  const PeftConfig config{.r = 2, .target_modules = {"q_proj"}};
  const Literal a = Literal::FromVector<float>({2, 1}, {1, 2});
  const Literal b = Literal::FromVector<float>({1, 2}, {7, 8});
  EXPECT_THAT(OpenPeftAdapter(directory).status().message(), HasSubstr("no adapter_config.json"));
  ASSERT_TRUE(WritePeftAdapter(directory, config, {ToWrite(LoraAName(kModule), a)}).ok());
  EXPECT_THAT(OpenPeftAdapter(directory).status().message(), HasSubstr("lora_B"));
  ASSERT_TRUE(WritePeftAdapter(directory, config, {ToWrite(LoraBName(kModule), b)}).ok());
  EXPECT_THAT(OpenPeftAdapter(directory).status().message(), HasSubstr("lora_A"));
  ASSERT_TRUE(WritePeftAdapter(directory, config, {ToWrite("other", b)}).ok());
  EXPECT_THAT(OpenPeftAdapter(directory).status().message(), HasSubstr("MODULE"));
  ASSERT_TRUE(WritePeftAdapter(directory, config,
                               {ToWrite(LoraAName(kModule), b), ToWrite(LoraBName(kModule), b)})
                  .ok());
  EXPECT_THAT(OpenPeftAdapter(directory).status().message(), HasSubstr("[2,in]"));
}

// Configurations from public repositories; each is plain LoRA.
TEST(PeftTest, ReadsPublishedConfigurations) {
  const std::string directory = "../shared_data/shared/data/configs/peft_adapter_config";
  if (!RealFileSystem().Exists(directory)) GTEST_SKIP() << "no shared data";
  const auto names = RealFileSystem().List(directory);
  ASSERT_TRUE(names.ok()) << names.status();
  int read = 0;
  for (const std::string& name : *names) {
    if (!absl::EndsWith(name, ".json")) continue;
    std::ostringstream text;
    text << std::ifstream(JoinPath(directory, name)).rdbuf();
    auto config = ParsePeftConfig(text.str());
    EXPECT_TRUE(config.ok()) << name << ": " << config.status();
    EXPECT_FALSE(config.ok() && config->target_modules.empty()) << name;
    ++read;
  }
  EXPECT_GE(read, 5);
}

}  // namespace
}  // namespace trencadis::checkpoint
