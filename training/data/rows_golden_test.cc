// Rows against those of optimum-habana's examples, as tests/golden/make_data_rows.py builds them.
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "models/tokenizers/load_tokenizer.h"
#include "nlohmann/json.hpp"
#include "runtime/base/file.h"
#include "training/data/records.h"
#include "training/data/rows.h"

namespace trencadis::training {
namespace {

constexpr char kTokenizer[] =
    "../shared_data/shared/data/models/llama/stories260K_hf/tokenizer.model";

using Ids = std::vector<int32_t>;

class RowsGoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RealFileSystem().Exists(kTokenizer)) GTEST_SKIP() << kTokenizer << " is absent";
    auto tokenizer = tokenizers::LoadTokenizer(kTokenizer);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    tokenizer_ = *std::move(tokenizer);
    std::ifstream file("tests/golden/data_rows.json");
    golden_ = nlohmann::json::parse(file);
  }

  // `text` as a data file with this name.
  static std::string File(const std::string& name, const std::string& text) {
    const std::string path = JoinPath(testing::TempDir(), name);
    std::ofstream(path) << text;
    return path;
  }

  std::unique_ptr<tokenizers::Tokenizer> tokenizer_;
  nlohmann::json golden_;
};

TEST_F(RowsGoldenTest, AlpacaRecords) {
  nlohmann::json file = nlohmann::json::array();
  for (const auto& row : golden_["alpaca"]) file.push_back(row["record"]);
  const auto records = ReadRecords({File("alpaca.json", file.dump())}, /*keep_line_breaks=*/true);
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->size(), golden_["alpaca"].size());
  const auto answers = RecordRows(*records, *tokenizer_, 512, /*train_on_prompts=*/false);
  const auto everything = RecordRows(*records, *tokenizer_, 512, /*train_on_prompts=*/true);
  ASSERT_TRUE(answers.ok() && everything.ok()) << answers.status() << everything.status();
  for (size_t i = 0; i < records->size(); ++i) {
    SCOPED_TRACE(golden_["alpaca"][i]["record"].dump());
    const Ids ids = golden_["alpaca"][i]["input_ids"];
    EXPECT_EQ((*answers)[i].ids, ids);
    EXPECT_EQ((*answers)[i].labels, golden_["alpaca"][i]["answer_labels"].get<Ids>());
    EXPECT_EQ((*everything)[i].ids, ids);
    EXPECT_EQ((*everything)[i].labels, ids);
  }
}

TEST_F(RowsGoldenTest, BlocksOfText) {
  const auto& golden = golden_["text"];
  const auto records = ReadRecords({File("lines.txt", golden["text"])}, /*keep_line_breaks=*/true);
  ASSERT_TRUE(records.ok()) << records.status();
  const auto blocks = TextBlocks(*records, *tokenizer_, golden["block_size"].get<int64_t>());
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_EQ(blocks->size(), golden["blocks"].size());
  for (size_t i = 0; i < blocks->size(); ++i) {
    EXPECT_EQ((*blocks)[i].ids, golden["blocks"][i].get<Ids>()) << "block " << i;
    EXPECT_EQ((*blocks)[i].labels, (*blocks)[i].ids) << "block " << i;
  }
}

}  // namespace
}  // namespace trencadis::training
