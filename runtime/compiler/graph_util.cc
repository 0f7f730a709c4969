#include "runtime/compiler/graph_util.h"

#include <cmath>
#include <cstring>

#include "runtime/compiler/ops_used.h"

namespace trencadis::compiler {
namespace {

// Whether all elements of a non-empty literal have the same bits.
bool AllEqual(const Literal& literal) {
  const auto bytes = literal.bytes();
  const size_t size = ByteSize(literal.dtype());
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

}  // namespace

UseLists::UseLists(const ir::Graph& graph) {
  first_slot_.reserve(graph.num_nodes());
  int32_t slots = 0;
  for (const ir::Node& node : graph.nodes()) {
    first_slot_.push_back(slots);
    slots += static_cast<int32_t>(node.results.size());
  }
  begin_.assign(slots + 1, 0);
  const auto for_each = [&](auto&& visit) {
    for (int32_t id = 0; id < graph.num_nodes(); ++id) {
      const auto& operands = graph.node(id).operands;
      for (size_t i = 0; i < operands.size(); ++i) {
        visit(operands[i], Use{id, static_cast<int32_t>(i)});
      }
    }
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      visit(graph.outputs()[i], Use{-1, static_cast<int32_t>(i)});
    }
  };
  for_each([&](ir::Value value, Use) { ++begin_[Slot(value) + 1]; });
  for (int32_t i = 0; i < slots; ++i) begin_[i + 1] += begin_[i];
  uses_.resize(begin_.back());
  std::vector<int32_t> next(begin_.begin(), begin_.end() - 1);
  for_each([&](ir::Value value, Use use) { uses_[next[Slot(value)]++] = use; });
}

bool IsHeavy(const ir::Node& node) {
  switch (ClassOf(node)) {
    case ir::OpClass::kContraction:
    case ir::OpClass::kIndexing:
    case ir::OpClass::kComposite:
    case ir::OpClass::kFusion:
      return true;
    default:
      return false;
  }
}

std::optional<double> SplatValue(const ir::Graph& graph, ir::Value value) {
  const ir::Node* node = &graph.node(value.node);
  while (node->op == Ops().broadcast || node->op == Ops().reshape) {
    node = &graph.node(node->operands[0].node);
  }
  if (node->op != Ops().constant) return std::nullopt;
  const Literal& literal = *node->attributes.Get<ir::LiteralPtr>("value");
  if (literal.num_elements() == 0 || !AllEqual(literal)) return std::nullopt;
  const double number = literal.AsDouble(0);
  if (std::isnan(number)) return std::nullopt;
  return number;
}

bool ConvertsExactly(DType from, DType to) {
  if (from == to) return true;
  switch (from) {
    case DType::kBool:
      return true;
    case DType::kBF16:
      return to == DType::kF32;
    case DType::kU8:
      return to != DType::kBool;  // 255 fits in bf16's eight bits of precision
    case DType::kI32:
      return to == DType::kI64;
    default:
      return false;
  }
}

}  // namespace trencadis::compiler
