#include "runtime/compiler/scheduler.h"

#include <algorithm>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trencadis::compiler {
namespace {

using ::testing::ElementsAre;

// Adds a value of `bytes` made by `producer` and read by `readers`.
void AddValue(ScheduleProblem& problem, uint64_t bytes, int32_t producer,
              std::vector<int32_t> readers) {
  for (int32_t reader : readers) problem.predecessors[reader].push_back(producer);
  problem.values.push_back({bytes, producer, std::move(readers)});
}

TEST(Scheduler, KeepsProgramOrderWhenNothingIsFreed) {
  ScheduleProblem problem;
  problem.predecessors.resize(4);
  EXPECT_THAT(Schedule(problem), ElementsAre(0, 1, 2, 3));
}

TEST(Scheduler, UpdatesAParameterRightAfterItsGradient) {
  // Two gradients, then their updates at the end of the program.
  ScheduleProblem problem;
  problem.predecessors.resize(4);
  AddValue(problem, 100, 0, {2});
  AddValue(problem, 100, 1, {3});
  EXPECT_THAT(Schedule(problem), ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(PeakLiveBytes(problem, Schedule(problem)), 100u);
  EXPECT_EQ(PeakLiveBytes(problem, {0, 1, 2, 3}), 200u);
}

TEST(Scheduler, TheLastOfSeveralReadersFrees) {
  ScheduleProblem problem;
  problem.predecessors.resize(5);
  AddValue(problem, 100, 0, {1, 4});
  AddValue(problem, 10, 2, {3});
  // Once 1 has run, 4 frees 100 bytes; then the small value comes.
  EXPECT_THAT(Schedule(problem), ElementsAre(0, 1, 4, 2, 3));
}

TEST(Scheduler, HonoursPreferencesUntilTheyContradict) {
  ScheduleProblem problem;
  problem.predecessors.resize(3);
  AddValue(problem, 100, 0, {1});
  problem.preferences = {{2, 1}};
  EXPECT_THAT(Schedule(problem), ElementsAre(0, 2, 1));
  problem.preferences = {{2, 1}, {1, 2}};
  EXPECT_THAT(Schedule(problem), ElementsAre(0, 1, 2));
}

TEST(Scheduler, RandomProblemsRunPredecessorsFirstAndNeverWorse) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const int size = std::uniform_int_distribution<int>(1, 80)(random);
    ScheduleProblem problem;
    problem.predecessors.resize(size);
    for (int node = 0; node + 1 < size; ++node) {
      std::vector<int32_t> readers;
      for (int reader = node + 1; reader < size; ++reader) {
        if (std::uniform_int_distribution<int>(0, 9)(random) == 0) readers.push_back(reader);
      }
      AddValue(problem, std::uniform_int_distribution<int>(1, 1000)(random), node, readers);
    }
    const std::vector<int32_t> order = Schedule(problem);
    std::vector<int32_t> program(order);
    std::sort(program.begin(), program.end());
    std::vector<int> position(size, -1);
    for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
    for (int node = 0; node < size; ++node) {
      ASSERT_EQ(program[node], node);
      for (int32_t before : problem.predecessors[node]) {
        ASSERT_LT(position[before], position[node]);
      }
    }
    EXPECT_LE(PeakLiveBytes(problem, order), PeakLiveBytes(problem, program));
  }
}

}  // namespace
}  // namespace trencadis::compiler
