#include "runtime/device/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compiler/compiler.h"
#include "runtime/core/literal.h"
#include "runtime/device/device.h"
#include "runtime/device/reference_executable.h"
#include "runtime/ir/graph.h"
#include "runtime/ops/registry.h"

namespace trencadis {
namespace {

using ::testing::HasSubstr;

// tanh(a . b) + c: a product and a loop.
ir::Graph TheGraph() {
  ir::Graph graph;
  std::vector<ir::Value> values = {graph.AddInput({DType::kF32, {4, 8}}),
                                   graph.AddInput({DType::kF32, {8, 8}}),
                                   graph.AddInput({DType::kF32, {4, 8}})};
  const auto add = [&](absl::string_view op, std::vector<ir::Value> operands) {
    return ir::Value{*graph.AddNode(ops::FindOp(op), std::move(operands), {}), 0};
  };
  const ir::Value product = add("matmul", {values[0], values[1]});
  graph.SetOutputs({add("add", {add("tanh", {product}), values[2]})});
  return graph;
}

recipe::RecipeProto Compiled(const codegen::Target& target, bool donated = false) {
  compiler::CompileOptions options;
  options.arguments = {{}, {}, {.donated = donated}};
  auto recipe = compiler::Compile(TheGraph(), options, target);
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  return recipe.value_or(recipe::RecipeProto());
}

Literal Ramp(Shape shape, float step) {
  Literal literal({DType::kF32, std::move(shape)});
  for (int64_t i = 0; i < literal.num_elements(); ++i) literal.data<float>()[i] = i * step - 0.5f;
  return literal;
}

absl::StatusOr<Literal> RunOnDevice(std::shared_ptr<const Executable> executable) {
  Device device({"test", 1 << 20, 0, 0}, codegen::Target::Host());
  const std::vector<BufferPtr> arguments = {*device.FromHost(Ramp({4, 8}, 0.01f)),
                                            *device.FromHost(Ramp({8, 8}, 0.02f)),
                                            *device.FromHost(Ramp({4, 8}, 0.03f))};
  const auto outputs = device.Launch(std::move(executable), arguments);
  if (!outputs.ok()) return outputs.status();
  return device.ToHost(*(*outputs)[0], {DType::kF32, {4, 8}});
}

TEST(ExecutableTest, RunsWhatTheReferenceSays) {
  const codegen::Target target = codegen::Target::Host();
  const auto compiled = Executable::Load(Compiled(target), target);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto got = RunOnDevice(*compiled);
  const auto want = RunOnDevice(MakeReferenceExecutable(TheGraph(), {}));
  ASSERT_TRUE(got.ok() && want.ok()) << got.status() << want.status();
  for (int64_t i = 0; i < want->num_elements(); ++i) {
    EXPECT_NEAR(got->AsDouble(i), want->AsDouble(i), 1e-6) << i;
  }
}

TEST(ExecutableTest, TheReferenceSharesMemoryAsCompiledCodeDoes) {
  const codegen::Target target = codegen::Target::Host();
  for (const auto& executable : {*Executable::Load(Compiled(target, /*donated=*/true), target),
                                 MakeReferenceExecutable(TheGraph(), {false, false, true})}) {
    ASSERT_EQ(executable->recipe().donations_size(), 1);
    EXPECT_EQ(executable->recipe().donations(0).input(), 2u);
    EXPECT_EQ(executable->recipe().donations(0).output(), 0u);
  }
}

TEST(ExecutableTest, AnotherTargetsRecipeIsRefused) {
  const codegen::Target target = codegen::Target::Host();
  codegen::Target other = target;
  ++other.threads;
  const absl::Status status = Executable::Load(Compiled(target), other).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("compile it again"));
}

TEST(ExecutableTest, ADamagedRecipeIsRefused) {
  const codegen::Target target = codegen::Target::Host();
  const recipe::RecipeProto good = Compiled(target);
  ASSERT_GT(good.steps_size(), 1);
  recipe::RecipeProto out_of_bounds = good;
  out_of_bounds.mutable_steps(0)->mutable_results(0)->set_offset(uint64_t{1} << 40);
  EXPECT_FALSE(Executable::Load(out_of_bounds, target).ok());
  recipe::RecipeProto no_code = good;
  no_code.clear_objects();
  EXPECT_FALSE(Executable::Load(no_code, target).ok());
  recipe::RecipeProto step_lost = good;
  step_lost.mutable_steps()->DeleteSubrange(0, 1);
  EXPECT_FALSE(Executable::Load(step_lost, target).ok());
  recipe::RecipeProto cut_code = good;
  for (std::string& object : *cut_code.mutable_objects()) object.resize(object.size() / 2);
  EXPECT_FALSE(Executable::Load(cut_code, target).ok());
}

TEST(ExecutableTest, AFailingStepIsNamed) {
  ir::Graph graph;
  const ir::Value table = graph.AddInput({DType::kF32, {3, 2}});
  const ir::Value ids = graph.AddInput({DType::kI32, {1}});
  graph.SetOutputs({{*graph.AddNode(ops::FindOp("take"), {table, ids}, {}, "embedding"), 0}});
  const codegen::Target target = codegen::Target::Host();
  const auto executable = Executable::Load(*compiler::Compile(graph, {}, target), target);
  ASSERT_TRUE(executable.ok()) << executable.status();
  Device device({"test", 1 << 20, 0, 0}, target);
  const BufferPtr rows = *device.FromHost(Literal({DType::kF32, {3, 2}}));
  const BufferPtr bad = *device.FromHost(Literal::FromVector<int32_t>({1}, {3}));
  ASSERT_TRUE(device.Launch(*executable, {rows, bad}).ok());
  const absl::Status status = device.Synchronize();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("embedding"));
}

}  // namespace
}  // namespace trencadis
