#include "models/checkpoint/hf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/model_directory.h"
#include "runtime/base/fault_injecting_file_system.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::ElementsAre;

std::string NewDirectory(const std::string& name) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  EXPECT_TRUE(RemoveRecursively(path).ok());
  return path;
}

class HfWriterTest : public testing::Test {
 protected:
  HfWriterTest() {
    config_.vocab_size = 4;
    config_.hidden_size = 4;
    config_.intermediate_size = 4;
    config_.num_hidden_layers = 1;
    config_.num_attention_heads = config_.num_key_value_heads = 2;
    config_.head_dim = 2;
    for (int i = 0; i < 3; ++i) {
      values_.push_back(Literal::FromVector<float>({2}, {1.0f + i, 2.0f + i}));
    }
  }

  std::vector<TensorToWrite> Tensors() {
    std::vector<TensorToWrite> tensors;
    for (int i = 0; i < 3; ++i) {
      tensors.push_back(ToWrite(absl::StrCat("model.layers.0.w", i), values_[i]));
    }
    return tensors;
  }

  void ExpectReadsBack(const std::string& directory) {
    auto model = OpenModel(directory);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->config, config_);
    ASSERT_EQ(model->tensors->tensors().size(), 3u);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(*model->tensors->Read(absl::StrCat("model.layers.0.w", i)), values_[i]);
    }
  }

  ModelConfig config_;
  std::vector<Literal> values_;
};

TEST_F(HfWriterTest, OneFileOrShardsReadBack) {
  const std::string directory = NewDirectory("written");
  ASSERT_TRUE(WriteHfModel(directory, config_, Tensors(), {.max_shard_bytes = 16}).ok());
  EXPECT_THAT(*RealFileSystem().List(directory),
              ElementsAre("config.json", "model-00001-of-00002.safetensors",
                          "model-00002-of-00002.safetensors", "model.safetensors.index.json"));
  ExpectReadsBack(directory);
  // A model written over it leaves nothing of the old one.
  ASSERT_TRUE(WriteHfModel(directory, config_, Tensors(), {}).ok());
  EXPECT_THAT(*RealFileSystem().List(directory), ElementsAre("config.json", "model.safetensors"));
  ExpectReadsBack(directory);
}

TEST_F(HfWriterTest, CopiesTheTokenizer) {
  const std::string source = NewDirectory("source"), directory = NewDirectory("with_tokenizer");
  ASSERT_TRUE(RealFileSystem().CreateDirectories(source).ok());
  std::ofstream(source + "/tokenizer.model") << "pieces";
  std::ofstream(source + "/pytorch_model.bin") << "weights";
  ASSERT_TRUE(WriteHfModel(directory, config_, Tensors(), {.copy_tokenizer_from = source}).ok());
  EXPECT_THAT(*RealFileSystem().List(directory),
              ElementsAre("config.json", "model.safetensors", "tokenizer.model"));
  EXPECT_EQ(*RealFileSystem().ReadFile(directory + "/tokenizer.model"), "pieces");
}

TEST_F(HfWriterTest, AFullDiskLeavesTheOldModel) {
  const std::string directory = NewDirectory("full");
  ASSERT_TRUE(WriteHfModel(directory, config_, Tensors(), {}).ok());
  FaultInjectingFileSystem fs;
  for (int64_t free_bytes : {0, 100, 300, 600}) {
    fs.SetFreeBytes(free_bytes);
    const absl::Status status =
        WriteHfModel(directory, config_, Tensors(), {.max_shard_bytes = 16}, fs);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    ExpectReadsBack(directory);
  }
}

TEST_F(HfWriterTest, NamesWhatTheWeightsAreSavedAs) {
  const Literal weight = Literal::FromVector<BF16>({2}, {ToBF16(1), ToBF16(2)});
  const std::string directory = NewDirectory("bf16");
  ASSERT_TRUE(WriteHfModel(directory, config_, {ToWrite("model.layers.0.w", weight)}, {}).ok());
  EXPECT_EQ(OpenModel(directory)->config.torch_dtype, "bfloat16");
}

}  // namespace
}  // namespace trencadis::checkpoint
