#include "models/checkpoint/gguf_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/checkpoint/gguf_builder.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One layer of width 8 with 2 heads, 1 key-value head, and 3 tokens.
GgufBuilder Llama() {
  GgufBuilder builder;
  builder.String("general.architecture", "llama")
      .U32("llama.block_count", 1)
      .U32("llama.embedding_length", 8)
      .U32("llama.feed_forward_length", 4)
      .U32("llama.attention.head_count", 2)
      .U32("llama.attention.head_count_kv", 1)
      .F32("llama.rope.freq_base", 5000)
      .U32("tokenizer.ggml.eos_token_id", 2)
      .U32("tokenizer.ggml.padding_token_id", 0xffffffff)
      .Constant("token_embd.weight", {8, 3}, 1);
  return builder;
}

absl::StatusOr<std::unique_ptr<GgufFile>> Open(const GgufBuilder& builder) {
  const std::string path = testing::TempDir() + "/model.gguf";
  std::ofstream(path, std::ios::binary) << builder.Build();
  return GgufFile::Open(path);
}

absl::StatusOr<ModelConfig> Config(const GgufBuilder& builder) {
  auto file = Open(builder);
  EXPECT_TRUE(file.ok()) << file.status();
  return ConfigFromGguf(**file);
}

TEST(GgufModelTest, NamesAreHuggingFaces) {
  EXPECT_EQ(HuggingFaceName("token_embd.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(HuggingFaceName("output.weight"), "lm_head.weight");
  EXPECT_EQ(HuggingFaceName("blk.12.attn_output.bias"), "model.layers.12.self_attn.o_proj.bias");
  EXPECT_EQ(HuggingFaceName("blk.0.ffn_norm.weight"),
            "model.layers.0.post_attention_layernorm.weight");
  for (const char* name :
       {"blk.0.ffn_gate_exps.weight", "blk.01.attn_q.weight", "blk.attn_q.weight",
        "blk.-1.attn_q.weight", "rope_freqs.weight", "output.scale", "output"}) {
    EXPECT_EQ(HuggingFaceName(name), std::nullopt) << name;
  }
}

TEST(GgufModelTest, ReadsTheConfiguration) {
  auto config = Config(Llama());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->vocab_size, 3);
  EXPECT_EQ(config->head_dim, 4);
  EXPECT_EQ(config->num_key_value_heads, 1);
  EXPECT_EQ(config->rope_theta, 5000);
  EXPECT_TRUE(config->tie_word_embeddings);
  EXPECT_THAT(config->eos_token_ids, ElementsAre(2));
  EXPECT_EQ(config->pad_token_id, std::nullopt);
}

TEST(GgufModelTest, AHeadIsTiedIfItIsACopy) {
  EXPECT_TRUE(Config(Llama().Constant("output.weight", {8, 3}, 1))->tie_word_embeddings);
  EXPECT_FALSE(Config(Llama().Constant("output.weight", {8, 3}, 2))->tie_word_embeddings);
}

TEST(GgufModelTest, QueryRowsComeInHalves) {
  // Row r of the stored matrix holds r: per head the rows alternate between the two halves.
  std::string rows;
  for (int r = 0; r < 8; ++r) rows += GgufBuilder::Raw(static_cast<float>(r));
  GgufBuilder builder = Llama();
  builder.Tensor("blk.0.attn_q.weight", {1, 8}, 0, rows);
  auto file = Open(builder);
  ASSERT_TRUE(file.ok()) << file.status();
  const ModelConfig config = *ConfigFromGguf(**file);
  auto tensors = TensorsFromGguf(std::move(*file), config);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  auto query = (*tensors)->Read("model.layers.0.self_attn.q_proj.weight");
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_THAT(query->data<float>(), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

TEST(GgufModelTest, RefusesWhatLlamaCannotDo) {
  const auto error = [](const GgufBuilder& builder) {
    return std::string(Config(builder).status().message());
  };
  EXPECT_THAT(error(GgufBuilder().String("general.architecture", "phi3")), HasSubstr("'phi3'"));
  EXPECT_THAT(error(GgufBuilder().String("general.architecture", "llama")),
              HasSubstr("'llama.block_count' is missing"));
  EXPECT_THAT(error(Llama().U32("llama.expert_count", 8)), HasSubstr("8 experts"));
  EXPECT_THAT(error(Llama().U32("llama.rope.dimension_count", 2)), HasSubstr("partial rotary"));
  auto file = Open(Llama().Constant("rope_freqs.weight", {2}, 1));
  const ModelConfig config = *ConfigFromGguf(**file);
  EXPECT_THAT(TensorsFromGguf(std::move(*file), config).status().message(),
              HasSubstr("'rope_freqs.weight' has no place"));
}

}  // namespace
}  // namespace trencadis::checkpoint
