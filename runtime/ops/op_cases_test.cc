// The cases themselves, and the reference implementations against hand-written values.
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "runtime/ir/graph.h"
#include "runtime/ops/op_case.h"
#include "runtime/ops/registry.h"

namespace trencadis::ops {
namespace {

TEST(OpCasesTest, EveryOpHasOne) {
  std::set<std::string> covered, known_values, gradients;
  for (const OpCase& op_case : AllOpCases()) {
    covered.insert(op_case.op);
    if (!op_case.expected.empty()) known_values.insert(op_case.op);
    if (op_case.check_gradient) gradients.insert(op_case.op);
  }
  // Their values are other ops': a body's, and the gradient of attention.
  known_values.insert({"fusion", "attention_grad"});
  for (const ir::OpDef* op : AllOps()) {
    if (op == ir::InputOp()) continue;
    const std::string name(op->name);
    EXPECT_EQ(covered.count(name), 1u) << name << " has no OpCase";
    EXPECT_EQ(known_values.count(name), 1u) << name << " has no case with hand-written values";
    EXPECT_EQ(gradients.count(name), op->vjp != nullptr ? 1u : 0u) << name;
  }
}

TEST(OpCasesTest, NamesAreUniqueAndBeginWithTheOp) {
  std::set<std::string> names;
  for (const OpCase& op_case : AllOpCases()) {
    EXPECT_TRUE(names.insert(op_case.name).second) << op_case.name;
    EXPECT_EQ(op_case.name.rfind(op_case.op + "/", 0), 0u) << op_case.name;
    EXPECT_NE(FindOp(op_case.op), nullptr) << op_case.name;
  }
}

TEST(OpCasesTest, OpsOnFloatsHaveCasesInBothTypes) {
  std::set<std::string> f32, bf16;
  for (const OpCase& op_case : AllOpCases()) {
    for (const OperandSpec& operand : op_case.operands) {
      if (operand.type.dtype == DType::kF32) f32.insert(op_case.op);
      if (operand.type.dtype == DType::kBF16) bf16.insert(op_case.op);
    }
  }
  f32.erase("barrier");
  EXPECT_EQ(f32, bf16);
}

TEST(OpCasesTest, OperandsAreTheSameEachTimeAndInRange) {
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.large) continue;
    const std::vector<Literal> operands = MakeOperands(op_case);
    EXPECT_EQ(operands, MakeOperands(op_case)) << op_case.name;
    for (size_t i = 0; i < operands.size(); ++i) {
      const OperandSpec& spec = op_case.operands[i];
      EXPECT_EQ(operands[i].type(), spec.type) << op_case.name;
      if (spec.values != nullptr) continue;
      for (int64_t j = 0; j < operands[i].num_elements(); ++j) {
        ASSERT_GE(operands[i].AsDouble(j), spec.low) << op_case.name;
        ASSERT_LE(operands[i].AsDouble(j), spec.high) << op_case.name;
      }
    }
  }
}

TEST(ReferenceTest, GivesResultsOfTheInferredTypes) {
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.large) continue;
    const auto graph = CaseGraph(op_case);
    ASSERT_TRUE(graph.ok()) << op_case.name << ": " << graph.status();
    const auto results = RunReference(op_case, MakeOperands(op_case));
    ASSERT_TRUE(results.ok()) << op_case.name << ": " << results.status();
    ASSERT_EQ(results->size(), graph->outputs().size());
    for (size_t i = 0; i < results->size(); ++i) {
      EXPECT_EQ((*results)[i].type(), graph->type(graph->outputs()[i])) << op_case.name;
    }
  }
}

TEST(ReferenceTest, GivesTheHandWrittenValues) {
  int compared = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.expected.empty()) continue;
    const auto results = RunReference(op_case, MakeOperands(op_case));
    ASSERT_TRUE(results.ok()) << op_case.name << ": " << results.status();
    ASSERT_EQ(results->size(), op_case.expected.size()) << op_case.name;
    for (size_t i = 0; i < results->size(); ++i) {
      const absl::Status close = CheckClose((*results)[i], op_case.expected[i], op_case.tolerance);
      EXPECT_TRUE(close.ok()) << op_case.name << " result " << i << ": " << close.message();
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

absl::Status ErrorOf(const std::string& op, std::vector<Literal> operands,
                     ir::Attributes attributes = {}) {
  OpCase op_case = {.name = op, .op = op, .attributes = std::move(attributes)};
  for (const Literal& operand : operands) op_case.operands.push_back({.type = operand.type()});
  return RunReference(op_case, operands).status();
}

TEST(ReferenceTest, IndicesOutOfRangeAreErrors) {
  const Literal table({DType::kF32, {3, 2}});
  const auto ids = [](int32_t id) { return Literal::FromVector<int32_t>({1}, {id}); };
  EXPECT_EQ(ErrorOf("take", {table, ids(3)}).message(),
            "%2 = take: take: an index is 3; wanted 0 to 2");
  EXPECT_EQ(ErrorOf("take", {table, ids(-1)}).code(), absl::StatusCode::kOutOfRange);
  const Literal update({DType::kF32, {1, 2}});
  EXPECT_FALSE(ErrorOf("scatter_add", {ids(3), update}, {{"rows", int64_t{3}}}).ok());
  const Literal start = Literal::Scalar<int32_t>(2);
  EXPECT_FALSE(
      ErrorOf("dynamic_slice", {table, start}, {{"axis", int64_t{0}}, {"size", int64_t{2}}}).ok());
  EXPECT_FALSE(ErrorOf("dynamic_update_slice", {update, update, Literal::Scalar<int32_t>(-1)},
                       {{"axis", int64_t{0}}})
                   .ok());
  EXPECT_FALSE(ErrorOf("linear_cross_entropy", {update, table, ids(3)}).ok());
}

}  // namespace
}  // namespace trencadis::ops
