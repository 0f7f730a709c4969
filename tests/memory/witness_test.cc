// Memory is what the plan says, by witnesses that are not the plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/recipe/recipe.h"
#include "training/testing.h"

namespace trencadis::memory {
namespace {

using training::TinyTraining;
using training::TinyTrainingOptions;

struct Case {
  std::string name;
  TinyTrainingOptions options;
};

std::vector<Case> Cases() {
  const TinyTrainingOptions base;
  std::vector<Case> cases = {{"Full", base},         {"Checkpointing", base}, {"Lora", base},
                             {"Accumulation", base}, {"Bf16", base},          {"TwoSteps", base},
                             {"EveryTenOps", base}};
  cases[1].options.step.gradient_checkpointing = true;
  cases[2].options.lora = true;
  cases[3].options.micro_batches = 3;
  cases[4].options.step.compute = DType::kBF16;
  cases[5].options.step.mark_step_before_backward = true;
  cases[6].options.context.max_compound_ops = 10;
  return cases;
}

class WitnessTest : public testing::TestWithParam<Case> {};

TEST_P(WitnessTest, AMeteringRunsPeaksAreTheRealRuns) {
  TinyTrainingOptions options = GetParam().options;
  TinyTraining real(options);
  options.device.metering = true;
  TinyTraining metering(options);
  for (int step = 0; step < 3; ++step) {
    real.Step();
    metering.Step();
    const MemoryStats expected = real.machine().device.memory_stats();
    const MemoryStats counted = metering.machine().device.memory_stats();
    EXPECT_EQ(counted.HpuKeys(), expected.HpuKeys()) << "after step " << step;
    EXPECT_EQ(counted.max_persistent_bytes, expected.max_persistent_bytes);
    EXPECT_EQ(counted.workspace_bytes, expected.workspace_bytes);
  }
  EXPECT_EQ(metering.machine().device.num_launches(), real.machine().device.num_launches());
  EXPECT_EQ(metering.machine().recipes.num_built(), real.machine().recipes.num_built());
  EXPECT_GT(real.machine().device.memory_stats().workspace_bytes, 0);
}

// The end of the highest arena byte that some step writes as a result (not as scratch).
int64_t LastResultByte(const recipe::RecipeProto& recipe) {
  uint64_t end = 0;
  for (const recipe::Step& step : recipe.steps()) {
    for (const recipe::BufferSlice& result : step.results()) {
      if (result.space() == recipe::BufferSlice::ARENA) {
        end = std::max(end, result.offset() + result.bytes());
      }
    }
  }
  return static_cast<int64_t>(end);
}

TEST_P(WitnessTest, TheArenaIsUsedToItsPlannedEndAndNoFurther) {
  TinyTrainingOptions options = GetParam().options;
  options.device.poison_workspace = true;
  TinyTraining run(options);
  for (int step = 0; step < 2; ++step) {
    run.Step();
    const recipe::RecipeProto& recipe = run.machine().recipes.last().recipe();
    const auto mark = run.machine().device.WorkspaceHighWaterMark();
    ASSERT_TRUE(mark.ok()) << mark.status();
    EXPECT_LE(*mark, static_cast<int64_t>(recipe.arena_bytes()));
    EXPECT_GE(*mark, LastResultByte(recipe));
    EXPECT_GE(recipe.arena_bytes(), recipe.plan().lower_bound_bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(Training, WitnessTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST(CheckpointingTest, TakesLessWorkspaceForTheSameLosses) {
  TinyTrainingOptions options;
  options.config.num_hidden_layers = 6;
  options.tokens = 64;
  TinyTraining plain(options);
  options.step.gradient_checkpointing = true;
  TinyTraining checkpointed(options);
  for (int step = 0; step < 3; ++step) {
    EXPECT_NEAR(lazy::Values(checkpointed.Step())[0], lazy::Values(plain.Step())[0], 1e-5);
  }
  EXPECT_LT(checkpointed.machine().device.memory_stats().workspace_bytes,
            plain.machine().device.memory_stats().workspace_bytes * 6 / 10);
}

}  // namespace
}  // namespace trencadis::memory
