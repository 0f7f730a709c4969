// Every OpCase, forward and backward, compiled with and without optimisation, against the
// reference.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/compiler/compile_testing.h"
#include "runtime/ops/close.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/op_case.h"
#include "runtime/ops/registry.h"

namespace trencadis::compiler {
namespace {

void ExpectClose(const std::vector<Literal>& got, const std::vector<Literal>& want,
                 ops::Tolerance tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const absl::Status status = ops::CheckClose(got[i], want[i], tolerance);
    EXPECT_TRUE(status.ok()) << "result " << i << ": " << status;
  }
}

// Attention and the fused loss round probabilities and their gradients to bf16 between their
// products where the reference keeps f32: as far as bf16's 2^-8, times the sums they go into.
ops::Tolerance ToleranceOf(const ops::OpCase& op_case) {
  const ir::OpDef* op = ops::FindOp(op_case.op);
  const bool rounds_inside = op->traits.op_class == ir::OpClass::kComposite &&
                             op_case.operands[0].type.dtype == DType::kBF16;
  return rounds_inside ? ops::Tolerance{2e-2, 2e-2} : op_case.tolerance;
}

// One op alone is compiled alike with and without optimisation.
TEST(CompileOpCases, MatchTheReference) {
  for (const ops::OpCase& op_case : ops::AllOpCases()) {
    if (op_case.large) continue;
    SCOPED_TRACE(op_case.name);
    const std::vector<Literal> operands = ops::MakeOperands(op_case);
    const auto want = ops::RunReference(op_case, operands);
    const auto graph = ops::CaseGraph(op_case);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto got = CompileAndRun(*graph, {}, operands);
    ASSERT_EQ(got.ok(), want.ok()) << got.status() << " and " << want.status();
    if (want.ok()) ExpectClose(*got, *want, ToleranceOf(op_case));
  }
}

class CompileOpCasesTest : public testing::TestWithParam<bool> {};

TEST_P(CompileOpCasesTest, GradientsMatchTheReference) {
  CompileOptions options;
  options.optimize = GetParam();
  for (const ops::OpCase& op_case : ops::AllOpCases()) {
    if (op_case.large || !op_case.check_gradient) continue;
    SCOPED_TRACE(op_case.name);
    const auto graph = ops::GradientGraph(op_case);
    ASSERT_TRUE(graph.ok()) << graph.status();
    std::vector<Literal> arguments = ops::MakeOperands(op_case);
    const TensorType& cotangent = graph->type(graph->input(graph->num_inputs() - 1));
    arguments.push_back(ops::MakeOperand({.type = cotangent}, 99));
    const auto want = ops::Interpret(*graph, arguments);
    ASSERT_TRUE(want.ok()) << want.status();
    const auto got = CompileAndRun(*graph, options, arguments);
    ASSERT_TRUE(got.ok()) << got.status();
    // A gradient is several ops long, each as inexact as the case.
    ExpectClose(*got, *want, {8 * op_case.tolerance.relative, 8 * op_case.tolerance.absolute});
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompileOpCasesTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Optimised" : "OneByOne"; });

}  // namespace
}  // namespace trencadis::compiler
