#include "runtime/lazy/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/scoped_env.h"
#include "runtime/lazy/build_executable.h"
#include "runtime/lazy/ops.h"
#include "runtime/lazy/testing.h"

namespace trencadis::lazy {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const Shape kFour{4};

TEST(ContextTest, RecordsAndComputesAtMarkStep) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor y = Mul(Add(x, x), x);
  EXPECT_EQ(machine.context.num_pending(), 2);
  EXPECT_EQ(machine.device.num_launches(), 0);
  EXPECT_EQ(y.buffer(), nullptr);
  ASSERT_TRUE(machine.context.MarkStep().ok());
  EXPECT_EQ(machine.context.num_pending(), 0);
  EXPECT_EQ(machine.device.num_launches(), 1);
  EXPECT_THAT(Values(y), ElementsAre(2, 8, 18, 32));
  ASSERT_TRUE(machine.context.MarkStep().ok());
  EXPECT_EQ(machine.device.num_launches(), 1);
}

TEST(ContextTest, ReadingAPendingValueMarksAStep) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  EXPECT_THAT(Values(Neg(x)), ElementsAre(-1, -2, -3, -4));
  EXPECT_EQ(machine.device.num_launches(), 1);
}

TEST(ContextTest, OnlyWhatLiveHandlesNeedIsComputedAndStored) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  Tensor kept = Exp(x);
  Tensor dropped = Sqrt(x);
  Tensor result;
  {
    const Tensor intermediate = Add(kept, 1);
    result = Tanh(intermediate);
    dropped = Tensor();
  }
  const Tensor copy = result;
  ASSERT_TRUE(machine.context.MarkStep().ok());
  const ir::Graph& graph = machine.recipes.requests().back().graph;
  EXPECT_THAT(graph.outputs(), SizeIs(2));
  EXPECT_EQ(CountOps(graph, "sqrt"), 0);
  EXPECT_EQ(machine.device.memory_stats().persistent_bytes, 3 * 16);
  EXPECT_EQ(Values(copy), Values(result));
}

TEST(ContextTest, AStepWithoutLiveResultsRunsNothing) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  Neg(x);
  ASSERT_TRUE(machine.context.MarkStep().ok());
  EXPECT_EQ(machine.device.num_launches(), 0);
}

TEST(ContextTest, AReplacedValueGivesItsMemoryToItsSuccessor) {
  TestMachine machine;
  Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const std::byte* bytes = x.buffer()->storage()->data();
  for (int step = 0; step < 3; ++step) {
    x = Add(x, 1);
    ASSERT_TRUE(machine.context.MarkStep().ok());
    EXPECT_EQ(x.buffer()->storage()->data(), bytes);
  }
  EXPECT_THAT(Values(x), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(machine.device.memory_stats().max_persistent_bytes, 16);
  EXPECT_EQ(machine.recipes.num_built(), 1u);
}

TEST(ContextTest, AValueThatSomebodyHoldsIsNotOverwritten) {
  TestMachine machine;
  Tensor by_handle = FromValues(machine.context, kFour, {1, 2, 3, 4});
  Tensor by_buffer = FromValues(machine.context, kFour, {5, 6, 7, 8});
  Tensor frozen = FromValues(machine.context, kFour, {9, 10, 11, 12});
  const Tensor handle = by_handle;
  const BufferPtr buffer = by_buffer.buffer();
  frozen.Freeze();
  by_handle = Add(by_handle, 1);
  by_buffer = Add(by_buffer, 1);
  frozen = Add(frozen, 1);
  ASSERT_TRUE(machine.context.MarkStep().ok());
  for (const compiler::ArgumentInfo& argument : machine.recipes.requests()[0].options.arguments) {
    EXPECT_FALSE(argument.donated);
  }
  EXPECT_THAT(Values(handle), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(machine.device.ToHost(*buffer, by_buffer.type())->AsDouble(0), 5);
  EXPECT_THAT(Values(by_handle), ElementsAre(2, 3, 4, 5));
  EXPECT_FALSE(frozen.buffer()->frozen());
}

TEST(ContextTest, ABufferThatTwoValuesShareIsNotOverwritten) {
  TestMachine machine;
  Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor square = Reshape(x, {2, 2});  // may be the same memory
  ASSERT_TRUE(machine.context.MarkStep().ok());
  x = Add(x, 1);
  ASSERT_TRUE(machine.context.MarkStep().ok());
  EXPECT_THAT(Values(square), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Values(x), ElementsAre(2, 3, 4, 5));
}

TEST(ContextTest, ALimitOnCompoundOpsMarksSteps) {
  TestMachine machine({.max_compound_ops = 2});
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor y = Neg(Exp(Log(Add(Add(x, x), x))));
  EXPECT_EQ(machine.device.num_launches(), 2);
  EXPECT_EQ(machine.context.num_pending(), 1);
  EXPECT_NEAR(Values(y)[1], -6, 1e-5);
  for (const auto& request : machine.recipes.requests()) {
    EXPECT_LE(request.graph.num_nodes() - request.graph.num_inputs(), 2);
  }
}

TEST(ContextTest, EagerModeRunsEachOpAtOnce) {
  TestMachine machine({.max_compound_ops = 1});
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor y = Add(x, x);
  EXPECT_EQ(machine.device.num_launches(), 1);
  EXPECT_NE(y.buffer(), nullptr);
  EXPECT_THAT(Values(y), ElementsAre(2, 4, 6, 8));
}

TEST(ContextTest, TheFirstErrorSticks) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor y = FromValues(machine.context, Shape{3}, {1, 2, 3});
  Tensor bad;
  {
    LabelScope scope(machine.context, "layers.7");
    bad = Add(x, y);
  }
  const absl::Status error = machine.context.status();
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(error.message()), HasSubstr("layers.7"));
  EXPECT_THAT(std::string(error.message()), HasSubstr("f32[3]"));
  // The program goes on to the next MarkStep, through any op.
  const Tensor later = SumAll(MatMul(Slice(ReduceMean(bad, {5}), 9, 0, 1), x));
  EXPECT_EQ(machine.context.MarkStep(), error);
  EXPECT_EQ(later.ToHost().status(), error);
  EXPECT_EQ(machine.context.Synchronize(), error);
  EXPECT_EQ(machine.device.num_launches(), 0);
}

TEST(ContextTest, AnAxisOutOfRangeIsAnError) {
  for (const int axis : {3, -4}) {
    TestMachine machine;
    const Tensor x = FromValues(machine.context, Shape{1, 2, 2}, {1, 2, 3, 4});
    Slice(x, axis, 0, 1);
    EXPECT_EQ(machine.context.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(ContextTest, RunningOutOfMemorySticks) {
  TestMachine machine({}, {}, 40);
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor y = FromValues(machine.context, kFour, {1, 2, 3, 4});
  EXPECT_TRUE(machine.context.status().ok());
  const Tensor z = FromValues(machine.context, kFour, {1, 2, 3, 4});
  EXPECT_EQ(z.type(), x.type());
  EXPECT_EQ(machine.context.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Add(x, z).ToHost().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ContextTest, AFailureOnTheDeviceSticks) {
  TestMachine machine;
  const Tensor table = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor ids = Tensor::FromHost(machine.context, Literal::FromVector<int32_t>({1}, {4}));
  const Tensor row = Take(table, ids);
  EXPECT_EQ(row.ToHost().status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(machine.context.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(machine.context.Synchronize().code(), absl::StatusCode::kOutOfRange);
}

TEST(ContextTest, LabelsNest) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  Tensor y;
  {
    LabelScope outer(machine.context, "layers.0");
    LabelScope inner(machine.context, "mlp");
    y = Exp(x);
  }
  y = Neg(y);
  const absl::StatusOr<ir::Graph> graph = machine.context.PendingGraph();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->node(1).label, "layers.0.mlp");
  EXPECT_EQ(graph->node(2).label, "");
}

TEST(ContextTest, LabelsAndValuesAreNoPartOfTheGraph) {
  TestMachine machine;
  for (int layer = 0; layer < 3; ++layer) {
    LabelScope scope(machine.context, std::to_string(layer));
    const Tensor x = FromValues(machine.context, kFour, {1.0f + layer, 2, 3, 4});
    EXPECT_EQ(Values(Add(x, 1))[0], 2 + layer);
  }
  EXPECT_EQ(machine.recipes.num_built(), 1u);
}

TEST(ContextTest, ThePendingGraphIsWhatMarkStepCompiles) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const Tensor y = Tanh(Add(x, x));
  const absl::StatusOr<ir::Graph> graph = machine.context.PendingGraph();
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(machine.context.MarkStep().ok());
  EXPECT_EQ(*graph, machine.recipes.requests().back().graph);
}

TEST(ContextTest, DisabledPassesComeFromTheEnvironment) {
  const ScopedEnv env("HPU_DISABLE_PASSES", "cse,fusion");
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  EXPECT_THAT(Values(Add(x, x)), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(machine.recipes.requests()[0].options.disabled_passes, ElementsAre("cse", "fusion"));
}

TEST(ContextTest, TheReferenceCanTakeTheCompilersPlace) {
  const ScopedEnv env("HPU_EXEC", "reference");
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  EXPECT_THAT(Values(MatMul(Reshape(x, {2, 2}), Reshape(x, {2, 2}))), ElementsAre(7, 10, 15, 22));
  const auto& request = machine.recipes.requests()[0];
  const auto executable =
      BuildExecutable({request.graph, request.options, machine.device.target()});
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->recipe().steps_size(), 0);
}

TEST(ContextTest, RecipesMayBeLoadedFromTheirBytes) {
  std::vector<std::vector<float>> results;
  for (const char* mode : {"compiled", "serialised"}) {
    const ScopedEnv env("HPU_EXEC", mode);
    TestMachine machine;
    const Tensor x = FromValues(machine.context, Shape{16, 16}, RandomValues(256, 1));
    results.push_back(Values(Tanh(MatMul(x, Exp(x)))));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(ContextTest, AnUnknownWayToRunIsRefused) {
  const ScopedEnv env("HPU_EXEC", "fast");
  TestMachine machine;
  const Tensor x = FromValues(machine.context, kFour, {1, 2, 3, 4});
  const absl::Status status = Neg(x).ToHost().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("HPU_EXEC is 'fast'"));
}

TEST(ContextTest, AMeteringDeviceCountsTheSameProgram) {
  std::vector<MemoryStats> stats;
  for (const bool metering : {false, true}) {
    TestMachine machine({}, {.metering = metering});
    Tensor x = FromValues(machine.context, Shape{64, 64}, RandomValues(64 * 64, 1));
    const Tensor w = FromValues(machine.context, Shape{64, 64}, RandomValues(64 * 64, 2));
    for (int step = 0; step < 3; ++step) {
      x = Tanh(MatMul(Exp(x), w));
      ASSERT_TRUE(machine.context.MarkStep().ok());
    }
    if (metering) {
      EXPECT_THAT(Values(x), Each(0));
    }
    stats.push_back(machine.device.memory_stats());
  }
  EXPECT_EQ(stats[0].HpuKeys(), stats[1].HpuKeys());
}

}  // namespace
}  // namespace trencadis::lazy
