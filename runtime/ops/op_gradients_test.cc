// Every vjp against finite differences of the reference, and in bf16 against f32.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/base/status.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/op_case.h"

namespace trencadis::ops {
namespace {

// Values are f32, so a difference of two of them is exact to about 1e-7. With h = 1/64 the rounding
// error of the quotient is 1e-5 and the truncation error of the fourth-order formula h^4 / 30 times
// the fifth derivative, 1e-8 times a moderate number.
constexpr double kStep = 0x1p-6;
constexpr double kTolerance = 1e-3;
// More elements than this are sampled.
constexpr int kElements = 24;

double Dot(const Literal& x, const Literal& y) {
  double sum = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) sum += x.AsDouble(i) * y.AsDouble(i);
  return sum;
}

class GradientCheck {
 public:
  explicit GradientCheck(const OpCase& op_case)
      : op_case_(op_case), operands_(MakeOperands(op_case)) {}

  absl::Status Run() {
    TRENCADIS_ASSIGN_OR_RETURN(const ir::Graph graph, GradientGraph(op_case_));
    const TensorType type = graph.type(graph.input(graph.num_inputs() - 1));
    cotangent_ = MakeOperand({.type = type, .low = 0.5, .high = 1.5}, 1);
    std::vector<Literal> arguments = operands_;
    arguments.push_back(cotangent_);
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<Literal> gradients, Interpret(graph, arguments));
    size_t next = 0;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!IsFloat(operands_[i].dtype())) continue;
      TRENCADIS_RETURN_IF_ERROR(
          Annotate(CheckOperand(i, gradients[next++]), absl::StrCat("operand ", i)));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckOperand(size_t operand, const Literal& gradient) {
    const int64_t count = gradient.num_elements();
    std::mt19937 random(7);
    for (int64_t k = 0; k < std::min<int64_t>(count, kElements); ++k) {
      const int64_t at = count <= kElements ? k : static_cast<int64_t>(random()) % count;
      TRENCADIS_ASSIGN_OR_RETURN(const double wanted, Difference(operand, at));
      const double got = gradient.AsDouble(at);
      if (std::fabs(got - wanted) <= kTolerance * (1 + std::fabs(wanted))) continue;
      return absl::InternalError(absl::StrCat("element ", at, ": the vjp says ", got,
                                              ", finite differences say ", wanted));
    }
    return absl::OkStatus();
  }

  // (L(x-2h) - 8 L(x-h) + 8 L(x+h) - L(x+2h)) / 12h
  absl::StatusOr<double> Difference(size_t operand, int64_t at) {
    constexpr double kWeights[] = {1, -8, 8, -1};
    constexpr double kOffsets[] = {-2, -1, 1, 2};
    const double middle = operands_[operand].AsDouble(at);
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      operands_[operand].SetDouble(at, middle + kOffsets[i] * kStep);
      TRENCADIS_ASSIGN_OR_RETURN(const auto results, RunReference(op_case_, operands_));
      sum += kWeights[i] * Dot(results[0], cotangent_);
    }
    operands_[operand].SetDouble(at, middle);
    return sum / (12 * kStep);
  }

  const OpCase& op_case_;
  std::vector<Literal> operands_;
  Literal cotangent_;
};

TEST(GradientTest, AgreesWithFiniteDifferences) {
  int checked = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (!op_case.check_gradient) continue;
    const absl::Status status = GradientCheck(op_case).Run();
    EXPECT_TRUE(status.ok()) << op_case.name << ": " << status.message();
    ++checked;
  }
  EXPECT_GT(checked, 60);
}

// The same case with every float operand (and dtype attribute) in `dtype`.
OpCase InType(OpCase op_case, DType dtype) {
  for (OperandSpec& operand : op_case.operands) {
    if (!IsFloat(operand.type.dtype)) continue;
    operand.type.dtype = dtype;
    if (operand.values != nullptr) {
      operand.values = std::make_shared<const Literal>(operand.values->ConvertTo(dtype));
    }
  }
  if (op_case.attributes.Has("dtype")) op_case.attributes.Set("dtype", dtype);
  return op_case;
}

// Rules must give bf16 gradients to bf16 operands; a few roundings of 2^-9 separate them from f32.
TEST(GradientTest, InBf16IsCloseToF32) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!op_case.check_gradient) continue;
    const OpCase narrow = InType(op_case, DType::kBF16);
    const OpCase wide = InType(op_case, DType::kF32);
    const auto narrow_graph = GradientGraph(narrow);
    const auto wide_graph = GradientGraph(wide);
    ASSERT_TRUE(narrow_graph.ok()) << op_case.name << ": " << narrow_graph.status();
    ASSERT_TRUE(wide_graph.ok()) << op_case.name << ": " << wide_graph.status();
    std::vector<Literal> operands = MakeOperands(narrow);
    operands.push_back(
        MakeOperand({.type = narrow_graph->type(narrow_graph->input(operands.size()))}, 1));
    std::vector<Literal> widened;
    for (size_t i = 0; i < operands.size(); ++i) {
      widened.push_back(operands[i].ConvertTo(wide_graph->type(wide_graph->input(i)).dtype));
    }
    const auto got = Interpret(*narrow_graph, operands);
    const auto want = Interpret(*wide_graph, widened);
    ASSERT_TRUE(got.ok() && want.ok()) << op_case.name << got.status() << want.status();
    for (size_t i = 0; i < want->size(); ++i) {
      const absl::Status close = CheckClose((*got)[i].ConvertTo(DType::kF32), (*want)[i],
                                            {.relative = 0.05, .absolute = 0.1});
      EXPECT_TRUE(close.ok()) << op_case.name << ": " << close.message();
    }
  }
}

// Gradients of `op` for a cotangent of ones.
std::vector<Literal> Gradients(const std::string& op, const std::vector<Literal>& operands,
                               ir::Attributes attributes = {}) {
  OpCase op_case = {.name = op, .op = op, .attributes = std::move(attributes)};
  for (const Literal& operand : operands) op_case.operands.push_back({.type = operand.type()});
  const auto graph = GradientGraph(op_case);
  EXPECT_TRUE(graph.ok()) << graph.status();
  std::vector<Literal> arguments = operands;
  arguments.push_back(
      MakeOperand({.type = graph->type(graph->input(operands.size())), .low = 1, .high = 1}, 1));
  const auto gradients = Interpret(*graph, arguments);
  EXPECT_TRUE(gradients.ok()) << gradients.status();
  return *gradients;
}

// Where finite differences say nothing; torch's conventions.
TEST(GradientTest, TiesShareTheGradient) {
  const Literal x = Literal::FromVector<float>({3}, {1, 2, 3});
  const Literal y = Literal::FromVector<float>({3}, {1, 3, 2});
  EXPECT_EQ(Gradients("max", {x, y})[0], Literal::FromVector<float>({3}, {0.5f, 0, 1}));
  EXPECT_EQ(Gradients("max", {x, y})[1], Literal::FromVector<float>({3}, {0.5f, 1, 0}));
  EXPECT_EQ(Gradients("min", {x, y})[0], Literal::FromVector<float>({3}, {0.5f, 1, 0}));
  const Literal rows = Literal::FromVector<float>({2, 4}, {5, 1, 5, 2, 0, 3, 3, 3});
  const ir::Attributes last_axis = {{"axes", std::vector<int64_t>{1}}};
  EXPECT_TRUE(CheckClose(Gradients("reduce_max", {rows}, last_axis)[0],
                         Literal::FromVector<float>(
                             {2, 4}, {0.5f, 0, 0.5f, 0, 0, 1 / 3.0f, 1 / 3.0f, 1 / 3.0f}),
                         {.relative = 1e-6})
                  .ok());
}

TEST(GradientTest, AtKinksAndPolesIsWhatTorchSays) {
  const Literal zero = Literal::FromVector<float>({1}, {0});
  const Literal two = Literal::FromVector<float>({1}, {2});
  EXPECT_EQ(Gradients("relu", {zero})[0].AsDouble(0), 0);
  EXPECT_EQ(Gradients("abs", {zero})[0].AsDouble(0), 0);
  EXPECT_EQ(Gradients("pow", {zero, two})[0].AsDouble(0), 0);
  EXPECT_EQ(Gradients("pow", {zero, two})[1].AsDouble(0), 0);
}

}  // namespace
}  // namespace trencadis::ops
