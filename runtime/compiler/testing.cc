#include "runtime/compiler/testing.h"

#include <random>

#include "gtest/gtest.h"
#include "runtime/compiler/passes/dce.h"
#include "runtime/ir/text.h"
#include "runtime/ir/verifier.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/registry.h"

namespace trencadis::compiler {
namespace {

Literal RandomLiteral(const TensorType& type, std::mt19937& random) {
  Literal literal(type);
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    if (IsFloat(type.dtype)) {
      literal.SetDouble(i, std::uniform_real_distribution<double>(-2, 2)(random));
    } else {
      const int largest = type.dtype == DType::kBool ? 1 : 3;
      literal.SetDouble(i, std::uniform_int_distribution<int>(0, largest)(random));
    }
  }
  return literal;
}

}  // namespace

ir::Graph GraphFrom(absl::string_view text) {
  absl::StatusOr<ir::Graph> graph = ir::ParseGraph(text, ops::FindOp);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : ir::Graph();
}

std::vector<Literal> RandomArguments(const ir::Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Literal> arguments;
  for (int32_t i = 0; i < graph.num_inputs(); ++i) {
    arguments.push_back(RandomLiteral(graph.type(graph.input(i)), random));
  }
  return arguments;
}

void ExpectSameValues(const ir::Graph& a, const ir::Graph& b) {
  const std::vector<Literal> arguments = RandomArguments(a, 1);
  const auto values_a = ops::Interpret(a, arguments);
  const auto values_b = ops::Interpret(b, arguments);
  ASSERT_TRUE(values_a.ok()) << values_a.status();
  ASSERT_TRUE(values_b.ok()) << values_b.status();
  ASSERT_EQ(values_a->size(), values_b->size());
  for (size_t i = 0; i < values_a->size(); ++i) {
    EXPECT_EQ((*values_a)[i], (*values_b)[i]) << "output " << i << ": " << (*values_a)[i].ToString()
                                              << " and " << (*values_b)[i].ToString();
  }
}

void ExpectRewrite(Pass& pass, absl::string_view before, absl::string_view after) {
  const ir::Graph original = GraphFrom(before);
  ir::Graph graph = original;
  const absl::StatusOr<bool> changed = pass.Run(graph);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_TRUE(*changed);
  ASSERT_TRUE(ir::VerifyGraph(graph).ok()) << ir::VerifyGraph(graph);
  ASSERT_TRUE(Dce().Run(graph).ok());
  const ir::Graph wanted = GraphFrom(after);
  EXPECT_TRUE(graph == wanted) << "got\n"
                               << ir::GraphToText(graph) << "wanted\n"
                               << ir::GraphToText(wanted);
  ExpectSameValues(original, graph);
}

void ExpectNoRewrite(Pass& pass, absl::string_view text) {
  const ir::Graph original = GraphFrom(text);
  ir::Graph graph = original;
  const absl::StatusOr<bool> changed = pass.Run(graph);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed) << ir::GraphToText(graph);
  EXPECT_TRUE(graph == original) << ir::GraphToText(graph);
}

}  // namespace trencadis::compiler
