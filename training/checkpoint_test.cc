#include "training/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/lazy/testing.h"

namespace trencadis::training {
namespace {

using lazy::FromValues;
using lazy::Values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two parameters with an optimizer that has taken some steps.
class TrainingRun {
 public:
  explicit TrainingRun(float start, std::vector<int64_t> rows = {2, 1}) {
    for (size_t i = 0; i < rows.size(); ++i) {
      parameters_[i].shape = Shape{rows[i]};
      parameters_[i].value = FromValues(machine_.context, parameters_[i].shape,
                                        std::vector<float>(rows[i], start + i));
      named_.push_back({"p" + std::to_string(i), &parameters_[i]});
    }
    optimizer_.emplace(machine_.context, named_, AdamWOptions{});
  }

  void Step() {
    std::vector<lazy::Tensor> gradients;
    for (const auto& [name, parameter] : named_) gradients.push_back(parameter->value);
    optimizer_->Step(gradients, 0.1);
    ASSERT_TRUE(machine_.context.MarkStep().ok());
  }

  absl::Status Write(const std::string& directory, int64_t step,
                     const absl::Status& model_status = absl::OkStatus()) {
    return WriteCheckpoint(directory, {step, 10, 1.25, "options"}, named_, &*optimizer_,
                           [&](const std::string& path) {
                             std::ofstream(path + "/model.txt") << "weights";
                             return model_status;
                           });
  }
  absl::StatusOr<TrainingState> Read(const std::string& checkpoint,
                                     const std::string& options = "options") {
    return ReadCheckpoint(checkpoint, options, machine_.context, named_, *optimizer_);
  }

  std::vector<float> Everything() {
    std::vector<float> all;
    for (size_t i = 0; i < named_.size(); ++i) {
      for (const lazy::Tensor& tensor : {named_[i].parameter->value, optimizer_->moments()[i].first,
                                         optimizer_->moments()[i].second}) {
        const std::vector<float> values = Values(tensor);
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  }
  int64_t optimizer_step() const { return optimizer_->step(); }

 private:
  lazy::TestMachine machine_;
  nn::Parameter parameters_[2];
  std::vector<nn::NamedParameter> named_;
  std::optional<AdamW> optimizer_;
};

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest()
      : directory_(JoinPath(testing::TempDir(),
                            testing::UnitTest::GetInstance()->current_test_info()->name())) {
    EXPECT_TRUE(RealFileSystem().CreateDirectories(directory_).ok());
  }

  const std::string directory_;
};

TEST_F(CheckpointTest, ARunContinuesBitForBit) {
  TrainingRun straight(1.5);
  straight.Step();
  ASSERT_TRUE(straight.Write(directory_, 1).ok());
  TrainingRun resumed(7);
  const auto state = resumed.Read(CheckpointPath(directory_, 1));
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->step, 1);
  EXPECT_EQ(state->total_steps, 10);
  EXPECT_EQ(state->total_loss, 1.25);
  EXPECT_EQ(resumed.optimizer_step(), 1);
  EXPECT_EQ(resumed.Everything(), straight.Everything());
  straight.Step();
  resumed.Step();
  EXPECT_EQ(resumed.Everything(), straight.Everything());
}

TEST_F(CheckpointTest, AppearsWholeOrNotAtAll) {
  TrainingRun run(1);
  EXPECT_EQ(run.Write(directory_, 3, absl::DataLossError("disk full")).message(), "disk full");
  EXPECT_THAT(*RealFileSystem().List(directory_), ElementsAre());
  ASSERT_TRUE(run.Write(directory_, 3).ok());
  EXPECT_THAT(*RealFileSystem().List(directory_), ElementsAre("checkpoint-3"));
  EXPECT_TRUE(RealFileSystem().Exists(CheckpointPath(directory_, 3) + "/model.txt"));
}

TEST_F(CheckpointTest, AnotherConfigurationIsRefusedAndNothingChanges) {
  TrainingRun run(1);
  ASSERT_TRUE(run.Write(directory_, 1).ok());
  TrainingRun other(2);
  const std::vector<float> before = other.Everything();
  const absl::Status status = other.Read(CheckpointPath(directory_, 1), "other options").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("there: options"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("here:  other options"));
  EXPECT_EQ(other.Everything(), before);
  TrainingRun wider(2, {2, 5});
  const std::vector<float> wider_before = wider.Everything();
  EXPECT_FALSE(wider.Read(CheckpointPath(directory_, 1)).ok());
  EXPECT_EQ(wider.Everything(), wider_before);
}

TEST_F(CheckpointTest, ADamagedOneIsRefusedAndNothingChanges) {
  TrainingRun run(1);
  const std::string path = CheckpointPath(directory_, 1);
  for (const char* file : {"trainer_state.json", "training_state.safetensors"}) {
    SCOPED_TRACE(file);
    for (const char* text :
         {"", "{", "{\"global_step\": \"one\"}", "\xff\xff\xff\xff\xff\xff\xff\xff"}) {
      ASSERT_TRUE(run.Write(directory_, 1).ok());
      std::ofstream(JoinPath(path, file)) << text;
      TrainingRun other(2);
      const std::vector<float> before = other.Everything();
      EXPECT_FALSE(other.Read(path).ok()) << text;
      EXPECT_EQ(other.Everything(), before);
    }
  }
  EXPECT_FALSE(run.Read(directory_ + "/checkpoint-99").ok());
}

TEST_F(CheckpointTest, OldOnesAreRemoved) {
  TrainingRun run(1);
  for (const int64_t step : {2, 10, 9}) ASSERT_TRUE(run.Write(directory_, step).ok());
  ASSERT_TRUE(RealFileSystem().CreateDirectories(directory_ + "/checkpoint-best").ok());
  EXPECT_THAT(*ListCheckpoints(directory_), ElementsAre(2, 9, 10));
  ASSERT_TRUE(RemoveOldCheckpoints(directory_, 2).ok());
  EXPECT_THAT(*ListCheckpoints(directory_), ElementsAre(9, 10));
  EXPECT_TRUE(RealFileSystem().Exists(directory_ + "/checkpoint-best"));
}

}  // namespace
}  // namespace trencadis::training
