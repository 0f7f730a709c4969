#include "training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "training/checkpoint.h"
#include "training/testing.h"

namespace trencadis::training {
namespace {

using lazy::Values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(IntervalTest, FallsDueEverySoManySteps) {
  const Interval every_third{Interval::Kind::kSteps, 3};
  EXPECT_FALSE(every_third.After(2, 10, 5));
  EXPECT_TRUE(every_third.After(3, 10, 5));
  const Interval quarters{Interval::Kind::kSteps, 0.25};  // of 10 steps, rounded up
  EXPECT_TRUE(quarters.After(3, 10, 5));
  EXPECT_FALSE(quarters.After(4, 10, 5));
  const Interval late{Interval::Kind::kSteps, 2, 6};
  EXPECT_FALSE(late.After(4, 10, 5));
  EXPECT_TRUE(late.After(6, 10, 5));
  EXPECT_FALSE(Interval{}.After(10, 10, 5));
}

TEST(IntervalTest, FallsDueAtTheEndOfEpochs) {
  const Interval epochs{Interval::Kind::kEpoch};
  EXPECT_FALSE(epochs.After(4, 10, 5));
  EXPECT_TRUE(epochs.After(5, 10, 5));
  EXPECT_FALSE((Interval{Interval::Kind::kEpoch, 0, 2}.After(5, 10, 5)));
  EXPECT_TRUE((Interval{Interval::Kind::kEpoch, 0, 2}.After(10, 10, 5)));
}

// A trainer on a model and a device of its own.
class TrainingRun {
 public:
  explicit TrainingRun(TrainerOptions options)
      : training_(RandomExamples(10, 12, 64)), evaluation_(RandomExamples(5, 9, 64)) {
    options.show_progress = false;
    TrainerHooks hooks;
    hooks.save_model = [](const std::string& directory) {
      std::ofstream(directory + "/model.txt") << "weights";
      return absl::OkStatus();
    };
    hooks.on_log = [this](const Metrics& metrics) { logs.push_back(metrics); };
    hooks.on_batches = [this](int64_t step, absl::Span<const HostBatch> batches) {
      steps.push_back(step);
      for (const HostBatch& batch : batches) samples += batch.num_samples;
      return absl::OkStatus();
    };
    trainer.emplace(tiny_.machine().context, tiny_.model(), tiny_.trainable(), &training_,
                    &evaluation_, std::move(options), std::move(hooks));
  }

  std::vector<float> Weights() {
    std::vector<float> all;
    for (const auto& [name, parameter] : tiny_.trainable()) {
      const std::vector<float> values = Values(parameter->value);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  lazy::TestMachine& machine() { return tiny_.machine(); }

  std::optional<Trainer> trainer;
  std::vector<Metrics> logs;
  std::vector<int64_t> steps;
  int64_t samples = 0;

 private:
  TinyTraining tiny_{{}};
  const std::vector<Example> training_, evaluation_;
};

std::string NewDirectory() {
  const std::string directory =
      JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name());
  EXPECT_TRUE(RealFileSystem().CreateDirectories(directory).ok());
  return directory;
}

TrainerOptions SixSteps() {
  TrainerOptions options;
  options.train_batch_size = 2;
  options.accumulation_steps = 2;
  options.epochs = 2;  // of 10 rows: 3 steps each, the last of one micro batch
  options.learning_rate = 1e-2;
  options.warmup_steps = 2;
  return options;
}

TEST(TrainerTest, CountsStepsAndSeesEachRowOncePerEpoch) {
  TrainingRun run(SixSteps());
  EXPECT_EQ(run.trainer->steps_per_epoch(), 3);
  EXPECT_EQ(run.trainer->total_steps(), 6);
  const auto metrics = run.trainer->Train();
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(run.steps, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(run.samples, 20);
  EXPECT_EQ(metrics->Get("epoch"), 2);
  EXPECT_GT(metrics->Get("train_loss"), 0);
  EXPECT_LT(metrics->Get("train_loss"), std::log(64.0) + 0.2);
  TrainerOptions options = SixSteps();
  options.max_steps = 4;
  EXPECT_EQ(TrainingRun(options).trainer->total_steps(), 4);
  options.train_batch_size = 3;
  options.drop_last_batch = true;
  EXPECT_EQ(TrainingRun(options).trainer->steps_per_epoch(), 2);
}

TEST(TrainerTest, LogsMeansOverTheStepsSinceTheLastLine) {
  TrainerOptions options = SixSteps();
  options.logging = {Interval::Kind::kSteps, 1};
  TrainingRun each(options);
  ASSERT_TRUE(each.trainer->Train().ok());
  options.logging.steps = 3;
  TrainingRun third(options);
  const auto metrics = third.trainer->Train();
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(each.logs.size(), 6u);
  ASSERT_EQ(third.logs.size(), 2u);
  for (int half = 0; half < 2; ++half) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += each.logs[3 * half + i].Get("loss");
    EXPECT_NEAR(third.logs[half].Get("loss"), sum / 3, 1e-5);
  }
  EXPECT_NEAR(metrics->Get("train_loss"),
              (third.logs[0].Get("loss") + third.logs[1].Get("loss")) / 2, 1e-5);
  EXPECT_EQ(third.logs[1].Get("step"), 6);
  EXPECT_EQ(third.logs[1].Get("learning_rate"), 0);
  EXPECT_EQ(each.logs[0].Get("learning_rate"), 5e-3);
  EXPECT_GT(each.logs[0].Get("grad_norm"), 0);
}

TEST(TrainerTest, AResumedRunEndsBitForBitWhereAStraightOneDoes) {
  TrainerOptions options = SixSteps();
  options.output_dir = NewDirectory();
  options.saving = {Interval::Kind::kSteps, 2};
  TrainingRun straight(options);
  const auto want = straight.trainer->Train();
  ASSERT_TRUE(want.ok()) << want.status();
  EXPECT_THAT(*ListCheckpoints(options.output_dir), ElementsAre(2, 4, 6));
  for (const int64_t step : {2, 4}) {
    TrainingRun resumed(options);
    ASSERT_TRUE(resumed.trainer->Resume(CheckpointPath(options.output_dir, step)).ok());
    const auto got = resumed.trainer->Train();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(resumed.steps.front(), step);
    EXPECT_EQ(got->Get("train_loss"), want->Get("train_loss"));
    EXPECT_EQ(resumed.Weights(), straight.Weights());
  }
}

TEST(TrainerTest, ARunWithOtherOptionsCannotContinue) {
  TrainerOptions options = SixSteps();
  options.output_dir = NewDirectory();
  options.saving = {Interval::Kind::kSteps, 2};
  TrainingRun first(options);
  ASSERT_TRUE(first.trainer->Train().ok());
  options.optimizer.weight_decay = 0.1;
  TrainingRun other(options);
  const absl::Status status = other.trainer->Resume(CheckpointPath(options.output_dir, 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("decay 0.1"));
}

TEST(TrainerTest, EvaluationIsTotalLossOverTotalTokensHoweverItIsBatched) {
  std::vector<double> losses;
  for (const int64_t batch_size : {1, 2, 5}) {
    TrainerOptions options = SixSteps();
    options.eval_batch_size = batch_size;
    TrainingRun run(options);
    const auto metrics = run.trainer->Evaluate();
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    EXPECT_EQ(metrics->Get("eval_samples"), 5);
    EXPECT_NEAR(metrics->Get("perplexity"), std::exp(metrics->Get("eval_loss")), 1e-9);
    losses.push_back(metrics->Get("eval_loss"));
  }
  EXPECT_NEAR(losses[1], losses[0], 1e-5);
  EXPECT_NEAR(losses[2], losses[0], 1e-5);
}

TEST(TrainerTest, EvaluationDoesNotDisturbTraining) {
  TrainingRun plain(SixSteps());
  TrainerOptions options = SixSteps();
  options.evaluation = {Interval::Kind::kSteps, 2};
  TrainingRun evaluating(options);
  ASSERT_TRUE(plain.trainer->Train().ok());
  ASSERT_TRUE(evaluating.trainer->Train().ok());
  EXPECT_EQ(evaluating.logs.size(), 3u);
  EXPECT_TRUE(evaluating.logs[0].Has("eval_loss"));
  EXPECT_EQ(evaluating.Weights(), plain.Weights());
}

}  // namespace
}  // namespace trencadis::training
