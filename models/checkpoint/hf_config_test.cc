#include "models/checkpoint/hf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDimensions[] =
    R"("vocab_size":512,"hidden_size":64,"intermediate_size":172,"num_hidden_layers":5,)"
    R"("num_attention_heads":8)";

absl::StatusOr<ModelConfig> Parse(const std::string& more) {
  return ParseModelConfig(absl::StrCat("{", kDimensions, more, "}"));
}

TEST(HfConfigTest, DefaultsAreThoseOfLlamaConfig) {
  auto config = Parse("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model_type, "llama");
  EXPECT_EQ(config->num_key_value_heads, 8);
  EXPECT_EQ(config->head_dim, 8);
  EXPECT_EQ(config->max_position_embeddings, 2048);
  EXPECT_EQ(config->rms_norm_eps, 1e-6);
  EXPECT_EQ(config->rope_theta, 10000);
  EXPECT_FALSE(config->tie_word_embeddings);
  EXPECT_FALSE(config->rope_scaling.has_value());
  EXPECT_FALSE(config->bos_token_id.has_value());
}

TEST(HfConfigTest, ReadsEveryField) {
  auto config = Parse(
      R"(,"model_type":"mistral","architectures":["MistralForCausalLM"],"num_key_value_heads":2,
      "head_dim":16,"max_position_embeddings":128,"hidden_act":"gelu","rms_norm_eps":1e-5,
      "rope_theta":1e6,"rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,
      "high_freq_factor":4.0,"original_max_position_embeddings":8192},"attention_bias":true,
      "mlp_bias":true,"tie_word_embeddings":true,"bos_token_id":1,"eos_token_id":[2,3],
      "pad_token_id":0,"sliding_window":32,"torch_dtype":"bfloat16","quirk":{"a":[1]})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model_type, "mistral");
  EXPECT_THAT(config->architectures, ElementsAre("MistralForCausalLM"));
  EXPECT_EQ(config->num_key_value_heads, 2);
  EXPECT_EQ(config->head_dim, 16);
  EXPECT_EQ(config->rope_scaling->type, "llama3");
  EXPECT_EQ(config->rope_scaling->factor, 8);
  EXPECT_EQ(config->rope_scaling->original_max_position_embeddings, 8192);
  EXPECT_THAT(config->eos_token_ids, ElementsAre(2, 3));
  EXPECT_EQ(config->sliding_window, 32);
  EXPECT_EQ(config->other_fields.at("quirk"), R"({"a":[1]})");
  auto again = ParseModelConfig(ModelConfigToJson(*config));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *config);
}

TEST(HfConfigTest, LinearRopeScalingIsWrittenForOldReaders) {
  auto config = Parse(R"(,"rope_scaling":{"rope_type":"linear","factor":2.0})");
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string json = ModelConfigToJson(*config);
  EXPECT_THAT(json, HasSubstr("\"type\": \"linear\""));
  EXPECT_EQ(json.find("rope_type"), std::string::npos);
  EXPECT_EQ(*ParseModelConfig(json), *config);
}

TEST(HfConfigTest, ReadsNewStyleRope) {
  auto config = Parse(R"(,"rope_parameters":{"rope_theta":5e5,"rope_type":"default"})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rope_theta, 5e5);
  EXPECT_FALSE(config->rope_scaling.has_value());
}

TEST(HfConfigTest, WindowThatIsNotUsedIsNotSet) {
  auto config = Parse(R"(,"sliding_window":4096,"use_sliding_window":false)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->sliding_window.has_value());
}

TEST(HfConfigTest, NamesTheWrongKey) {
  const struct {
    std::string more, message;
  } cases[] = {
      {R"(,"num_key_value_heads":3)", "not a multiple of \"num_key_value_heads\" (3)"},
      {R"(,"num_key_value_heads":0)", "\"num_key_value_heads\" is 0"},
      {R"(,"hidden_act":7)", "\"hidden_act\" is 7; wanted a string"},
      {R"(,"tie_word_embeddings":"yes")", "wanted true or false"},
      {R"(,"head_dim":7)", "even"},
      {R"(,"head_dim":1.5)", "\"head_dim\" is 1.5; wanted an integer"},
      {R"(,"eos_token_id":["a"])", "\"eos_token_id\""},
      {R"(,"rms_norm_eps":0)", "\"rms_norm_eps\" is 0"},
      {R"(,"rope_scaling":{"factor":2})", "rope_type"},
      {R"(,"rope_scaling":{"type":"linear","factor":"2"})", "rope scaling: \"factor\""},
      {R"(,"max_position_embeddings":-1)", "\"max_position_embeddings\" is -1"},
      {R"(,"max_position_embeddings":18446744073709551615)", "wanted an integer"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(Parse(c.more).status().message(), HasSubstr(c.message)) << c.more;
  }
  EXPECT_THAT(ParseModelConfig(R"({"model_type":"t5"})").status().message(),
              HasSubstr("model type 't5'"));
  EXPECT_FALSE(ParseModelConfig("[]").ok());
  EXPECT_FALSE(ParseModelConfig("{").ok());
  EXPECT_FALSE(ParseModelConfig(std::string(100000, '[')).ok());
}

TEST(HfConfigTest, FileErrorsNameTheFile) {
  const std::string path = testing::TempDir() + "/config.json";
  std::ofstream(path) << "{}";
  EXPECT_THAT(ReadModelConfig(path).status().message(), HasSubstr(path));
  EXPECT_EQ(ReadModelConfig(path + "x").status().code(), absl::StatusCode::kNotFound);
}

TEST(HfConfigTest, ReadsPublishedModels) {
  const std::string path = "../shared_data/shared/data/models/llama/stories260K_hf/config.json";
  if (!RealFileSystem().Exists(path)) GTEST_SKIP() << "no shared data";
  auto config = ReadModelConfig(path);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->hidden_size, 64);
  EXPECT_EQ(config->num_key_value_heads, 4);
  EXPECT_TRUE(config->tie_word_embeddings);
}

}  // namespace
}  // namespace trencadis::checkpoint
