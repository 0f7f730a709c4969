// One program, every way to run it: lazily, cut into steps, op by op, interpreted.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "runtime/autograd/tape.h"
#include "runtime/compiler/random_graph.h"
#include "runtime/compiler/testing.h"
#include "runtime/ir/text.h"
#include "runtime/lazy/ops.h"
#include "runtime/lazy/testing.h"
#include "runtime/ops/close.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/op_case.h"
#include "runtime/ops/registry.h"
#include "tests/conformance/replay.h"

namespace trencadis::conformance {
namespace {

using lazy::Tensor;

void ExpectClose(const absl::StatusOr<std::vector<Literal>>& got, const std::vector<Literal>& want,
                 ops::Tolerance tolerance) {
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const absl::Status close = ops::CheckClose((*got)[i], want[i], tolerance);
    EXPECT_TRUE(close.ok()) << "result " << i << ": " << close;
  }
}

// Attention and the fused loss round what is between their products to bf16 where the reference
// keeps f32.
ops::Tolerance ToleranceOf(const ops::OpCase& op_case) {
  const bool rounds_inside = ops::FindOp(op_case.op)->traits.op_class == ir::OpClass::kComposite &&
                             op_case.operands[0].type.dtype == DType::kBF16;
  return rounds_inside ? ops::Tolerance{2e-2, 2e-2} : op_case.tolerance;
}

// By index, so that shards share the work.
class OpCaseTest : public testing::TestWithParam<size_t> {
 protected:
  const ops::OpCase& op_case() const { return ops::AllOpCases()[GetParam()]; }
};

TEST_P(OpCaseTest, OnTheDeviceAsInterpreted) {
  const auto graph = ops::CaseGraph(op_case());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Literal> operands = ops::MakeOperands(op_case());
  const auto want = ops::RunReference(op_case(), operands);
  const auto got = RunReplayed(*graph, operands, {});
  if (want.ok()) {
    ExpectClose(got, *want, ToleranceOf(op_case()));
  } else {
    EXPECT_EQ(got.status().code(), want.status().code());
  }
}

// dL/d(operands) by the tape, where L is result 0 weighted with `cotangent`.
absl::StatusOr<std::vector<Literal>> TapeGradients(const ir::Graph& graph,
                                                   const std::vector<Literal>& operands,
                                                   const Literal& cotangent) {
  lazy::TestMachine machine({}, {.poison_workspace = true});
  const std::vector<Tensor> tensors = ToDevice(machine.context, operands);
  autograd::Tape tape(machine.context);
  std::vector<Tensor> leaves;
  for (const Tensor& tensor : tensors) {
    if (IsFloat(tensor.dtype())) leaves.push_back(tensor);
  }
  for (const Tensor& leaf : leaves) tape.Watch(leaf);
  const Tensor result = Replay(machine.context, graph, tensors)[0];
  const auto gradients =
      tape.Gradient(result, leaves, Tensor::FromHost(machine.context, cotangent));
  if (!gradients.ok()) return gradients.status();
  return ToHost(*gradients);
}

TEST_P(OpCaseTest, TheTapesGradientIsTheRulesInterpreted) {
  if (!op_case().check_gradient) return;
  const auto graph = ops::CaseGraph(op_case());
  const auto gradient_graph = ops::GradientGraph(op_case());
  ASSERT_TRUE(gradient_graph.ok()) << gradient_graph.status();
  std::vector<Literal> arguments = ops::MakeOperands(op_case());
  const std::vector<Literal> operands = arguments;
  arguments.push_back(ops::MakeOperand({.type = graph->type(graph->outputs()[0])}, 7));
  const auto want = ops::Interpret(*gradient_graph, arguments);
  ASSERT_TRUE(want.ok()) << want.status();
  // A rule is several ops long, each as inexact as the case.
  const ops::Tolerance tolerance = op_case().tolerance;
  ExpectClose(TapeGradients(*graph, operands, arguments.back()), *want,
              {8 * tolerance.relative, 8 * tolerance.absolute});
}

std::vector<size_t> SmallCases() {
  std::vector<size_t> indices;
  for (size_t i = 0; i < ops::AllOpCases().size(); ++i) {
    if (!ops::AllOpCases()[i].large) indices.push_back(i);
  }
  return indices;
}

INSTANTIATE_TEST_SUITE_P(All, OpCaseTest, testing::ValuesIn(SmallCases()), [](const auto& info) {
  std::string name = ops::AllOpCases()[info.param].name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

class RandomProgramTest : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomProgramTest, CutsChangeNoBit) {
  const ir::Graph graph = compiler::RandomGraph(GetParam());
  SCOPED_TRACE(ir::GraphToText(graph));
  const std::vector<Literal> arguments = compiler::RandomArguments(graph, GetParam());
  const auto whole = RunReplayed(graph, arguments, {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (const int max_ops : {1, 3, 10}) {
    SCOPED_TRACE(max_ops);
    ExpectClose(RunReplayed(graph, arguments, {.max_compound_ops = max_ops}), *whole, {});
  }
}

// Thirty ops may widen the different last bits of other sums and functions; bf16 would widen them
// to its own step.
TEST_P(RandomProgramTest, IsCloseToTheInterpreter) {
  const ir::Graph graph =
      compiler::RandomGraph(1000 + GetParam(), {.nodes = 20, .with_bf16 = false});
  SCOPED_TRACE(ir::GraphToText(graph));
  const std::vector<Literal> arguments = compiler::RandomArguments(graph, GetParam());
  const auto want = ops::Interpret(graph, arguments);
  ASSERT_TRUE(want.ok()) << want.status();
  ExpectClose(RunReplayed(graph, arguments, {}), *want, {1e-3, 1e-3});
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramTest, testing::Range(0u, 20u));

}  // namespace
}  // namespace trencadis::conformance
