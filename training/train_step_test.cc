#include "training/train_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "training/testing.h"

namespace trencadis::training {
namespace {

using lazy::Values;

struct Outcome {
  std::vector<float> losses;
  std::vector<float> weights;  // of the first trainable parameter
};

Outcome Train(const TinyTrainingOptions& options, int steps = 4) {
  TinyTraining run(options);
  Outcome outcome;
  for (int step = 0; step < steps; ++step) outcome.losses.push_back(Values(run.Step())[0]);
  outcome.weights = Values(run.trainable()[0].parameter->value);
  return outcome;
}

void ExpectSame(const Outcome& got, const Outcome& want, double tolerance) {
  ASSERT_EQ(got.losses.size(), want.losses.size());
  for (size_t i = 0; i < want.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], want.losses[i], tolerance * want.losses[i]) << "step " << i;
  }
  ASSERT_EQ(got.weights.size(), want.weights.size());
  for (size_t i = 0; i < want.weights.size(); ++i) {
    ASSERT_NEAR(got.weights[i], want.weights[i], tolerance) << "weight " << i;
  }
}

// LoRA with dropout: randomness must follow the work, too.
TinyTrainingOptions Lora() {
  TinyTrainingOptions options;
  options.lora = true;
  options.lora_dropout = 0.3;
  return options;
}

TEST(TrainStepTest, TheLossStartsAtThatOfGuessingAndFalls) {
  const Outcome outcome = Train({}, 30);
  EXPECT_NEAR(outcome.losses[0], std::log(64.0), 0.05);
  EXPECT_LT(outcome.losses.back(), 0.9 * outcome.losses[0]);
}

TEST(TrainStepTest, RunsAreEqualBitForBit) {
  for (const TinyTrainingOptions& options : {TinyTrainingOptions(), Lora()}) {
    const Outcome first = Train(options), second = Train(options);
    EXPECT_EQ(first.losses, second.losses);
    EXPECT_EQ(first.weights, second.weights);
  }
}

TEST(TrainStepTest, CheckpointingAndCutsChangeNothing) {
  for (const TinyTrainingOptions& base : {TinyTrainingOptions(), Lora()}) {
    const Outcome want = Train(base);
    TinyTrainingOptions options = base;
    options.step.gradient_checkpointing = true;
    ExpectSame(Train(options), want, 1e-6);
    options.step.mark_step_before_backward = true;
    ExpectSame(Train(options), want, 1e-6);
    options = base;
    options.context.max_compound_ops = 10;
    ExpectSame(Train(options), want, 1e-6);
  }
}

TEST(TrainStepTest, EagerModeChangesNothing) {
  TinyTrainingOptions options = Lora();
  const Outcome want = Train(options, 2);
  options.context.max_compound_ops = 1;
  ExpectSame(Train(options, 2), want, 1e-6);
}

TEST(TrainStepTest, MicroBatchesTogetherAreOneBatch) {
  for (const TinyTrainingOptions& base : {TinyTrainingOptions(), Lora()}) {
    TinyTrainingOptions options = base;
    options.rows = 4;
    const Outcome want = Train(options);
    options.rows = 1;
    options.micro_batches = 4;
    // Sums of gradients are taken in another order.
    ExpectSame(Train(options), want, 1e-5);
  }
}

TEST(TrainStepTest, DropoutFollowsTheSeed) {
  TinyTrainingOptions options = Lora();
  const Outcome outcome = Train(options);
  options.step.seed = 43;
  EXPECT_NE(Train(options).weights, outcome.weights);
}

TEST(TrainStepTest, Bf16StaysClose) {
  TinyTrainingOptions options;
  const Outcome want = Train(options);
  options.step.compute = DType::kBF16;
  const Outcome got = Train(options);
  for (size_t i = 0; i < want.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], want.losses[i], 0.02 * want.losses[i]);
  }
  EXPECT_NE(got.losses, want.losses);
}

TEST(TrainStepTest, FrozenParametersStayAndAdaptersMove) {
  TinyTraining run(Lora());
  const std::vector<float> base = Values(run.model().Parameters()[0].parameter->value);
  const std::vector<float> adapter = Values(run.trainable()[1].parameter->value);
  run.Step();
  EXPECT_EQ(Values(run.model().Parameters()[0].parameter->value), base);
  EXPECT_NE(Values(run.trainable()[1].parameter->value), adapter);
}

TEST(TrainStepTest, StepsShareOneRecipe) {
  TinyTraining run({});
  run.Step();
  const size_t built = run.machine().recipes.num_built();
  for (int step = 0; step < 3; ++step) run.Step();
  EXPECT_EQ(run.machine().recipes.num_built(), built);
}

TEST(TrainStepTest, ABatchWithoutTargetsIsRefused) {
  TinyTraining run({});
  Example example{{1, 2, 3}, {-100, -100, -100}, {}, {}};
  const HostBatch batch = Collate({&example}, 0, {});
  EXPECT_EQ(run.train_step().Run({batch}, 1e-3).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(run.machine().context.status().ok());
}

}  // namespace
}  // namespace trencadis::training
