#include "models/checkpoint/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/safetensors_writer.h"
#include "runtime/base/file.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::HasSubstr;

constexpr char kLlama[] = "../shared_data/shared/data/models/llama/";

constexpr char kConfig[] =
    R"({"vocab_size":4,"hidden_size":4,"intermediate_size":4,"num_hidden_layers":1,)"
    R"("num_attention_heads":2})";

std::string NewDirectory(const std::string& name) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  EXPECT_TRUE(RemoveRecursively(path).ok());
  EXPECT_TRUE(RealFileSystem().CreateDirectories(path).ok());
  return path;
}

void WriteText(const std::string& directory, const std::string& name, const std::string& text) {
  std::ofstream(JoinPath(directory, name), std::ios::binary) << text;
}

// One model in two formats gives the same configuration and the same numbers: proof that names are
// mapped, llama.cpp's row order is undone and a copied head is recognised as tied.
TEST(ModelDirectoryTest, GgufAndHuggingFaceFormsOfStoriesAgree) {
  if (!RealFileSystem().Exists(kLlama)) GTEST_SKIP() << "no shared data";
  auto gguf = OpenModel(absl::StrCat(kLlama, "stories260K_gguf/tinyllm.gguf"));
  auto hf = OpenModel(absl::StrCat(kLlama, "stories260K_hf"));
  ASSERT_TRUE(gguf.ok()) << gguf.status();
  ASSERT_TRUE(hf.ok()) << hf.status();
  ModelConfig expected = hf->config;
  EXPECT_EQ(gguf->config.max_position_embeddings, 128);
  expected.max_position_embeddings = 128;  // The two files differ in this only.
  expected.other_fields.clear();
  EXPECT_NEAR(gguf->config.rms_norm_eps, expected.rms_norm_eps, 1e-12);
  expected.rms_norm_eps = gguf->config.rms_norm_eps;
  EXPECT_EQ(gguf->config, expected);
  ASSERT_EQ(gguf->tensors->tensors().size(), hf->tensors->tensors().size());
  for (const TensorInfo& info : hf->tensors->tensors()) {
    auto a = gguf->tensors->Read(info.name), b = hf->tensors->Read(info.name);
    ASSERT_TRUE(a.ok()) << a.status();
    EXPECT_EQ(*a, *b) << info.name;
  }
}

TEST(ModelDirectoryTest, ReadsRowsOfAnInterleavedTensor) {
  if (!RealFileSystem().Exists(kLlama)) GTEST_SKIP() << "no shared data";
  auto model = OpenModel(absl::StrCat(kLlama, "stories260K_gguf/tinyllm.gguf"));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::string name = "model.layers.2.self_attn.k_proj.weight";
  const Literal whole = *model->tensors->Read(name);
  Literal rows({DType::kF32, {5, 64}});
  ASSERT_TRUE(model->tensors->ReadRowsInto(name, 7, 5, DType::kF32, rows.bytes()).ok());
  for (int i = 0; i < 5 * 64; ++i) EXPECT_EQ(rows.AsDouble(i), whole.AsDouble(7 * 64 + i));
}

TEST(ModelDirectoryTest, OpensOneFileAndShards) {
  const Literal weight = Literal::FromVector<float>({1}, {3});
  const std::string name = "model.layers.0.w";
  const std::string single = NewDirectory("single");
  WriteText(single, "config.json", kConfig);
  ASSERT_TRUE(
      WriteSafetensors(JoinPath(single, "model.safetensors"), {ToWrite(name, weight)}).ok());
  auto model = OpenModel(single);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->tokenizer_path, single);
  EXPECT_EQ(model->config.hidden_size, 4);
  EXPECT_EQ(model->tensors->Read(name)->AsDouble(0), 3);

  const std::string sharded = NewDirectory("sharded");
  WriteText(sharded, "config.json", kConfig);
  WriteText(sharded, "model.safetensors.index.json",
            R"({"weight_map":{"model.layers.0.w":"model-00001-of-00001.safetensors"}})");
  ASSERT_TRUE(WriteSafetensors(JoinPath(sharded, "model-00001-of-00001.safetensors"),
                               {ToWrite(name, weight)})
                  .ok());
  model = OpenModel(sharded);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->tensors->Read(name)->AsDouble(0), 3);
}

TEST(ModelDirectoryTest, SaysWhatIsMissing) {
  EXPECT_THAT(OpenModel("/nonexistent").status().message(), HasSubstr("does not exist"));
  const std::string directory = NewDirectory("incomplete");
  EXPECT_THAT(OpenModel(directory).status().message(), HasSubstr("no config.json"));
  WriteText(directory, "config.json", kConfig);
  EXPECT_THAT(OpenModel(directory).status().message(), HasSubstr("no model.safetensors"));
  WriteText(directory, "pytorch_model.bin", "x");
  EXPECT_THAT(OpenModel(directory).status().message(), HasSubstr("a pickle"));
  WriteText(directory, "model.safetensors",
            "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
  EXPECT_THAT(OpenModel(directory).status().message(), HasSubstr("Git LFS pointer"));
  const Literal weight = Literal::Scalar(1.0f);
  ASSERT_TRUE(
      WriteSafetensors(JoinPath(directory, "model.safetensors"), {ToWrite("w", weight)}).ok());
  EXPECT_THAT(OpenModel(directory).status().message(), HasSubstr("'model.layers.0.'"));
  EXPECT_THAT(OpenModel(JoinPath(directory, "config.json")).status().message(),
              HasSubstr("name the directory"));
}

}  // namespace
}  // namespace trencadis::checkpoint
