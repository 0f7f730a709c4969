#include "runtime/compiler/passes/cse.h"

#include <algorithm>
#include <bit>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "runtime/base/status.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/rewriter.h"

namespace trencadis::compiler {
namespace {

size_t HashAttribute(const ir::Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> size_t {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, double>) {
          return absl::HashOf(std::bit_cast<uint64_t>(value));
        } else if constexpr (std::is_same_v<T, ir::LiteralPtr>) {
          const auto bytes = value->bytes();
          return absl::HashOf(absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                                                std::min<size_t>(bytes.size(), 64)));
        } else if constexpr (std::is_same_v<T, ir::GraphPtr>) {
          return value->num_nodes();
        } else {
          return absl::HashOf(value);
        }
      },
      attribute);
}

// Operands in an order that is the same for f(a, b) and f(b, a) of a commutative op.
std::vector<ir::Value> KeyOperands(const ir::Node& node) {
  std::vector<ir::Value> operands = node.operands;
  if (node.op->traits.commutative) {
    std::sort(operands.begin(), operands.end(), [](ir::Value a, ir::Value b) {
      return a.node != b.node ? a.node < b.node : a.output < b.output;
    });
  }
  return operands;
}

size_t HashNode(const ir::Node& node) {
  size_t hash = absl::HashOf(node.op, KeyOperands(node));
  for (const auto& [name, value] : node.attributes.entries()) {
    hash = absl::HashOf(hash, name, HashAttribute(value));
  }
  return hash;
}

bool SameComputation(const ir::Node& a, const ir::Node& b) {
  return a.op == b.op && KeyOperands(a) == KeyOperands(b) && a.attributes == b.attributes;
}

}  // namespace

absl::StatusOr<bool> Cse::Run(ir::Graph& graph) {
  Rewriter rewriter(graph);
  bool changed = false;
  absl::flat_hash_map<size_t, std::vector<int32_t>> seen;  // hash -> nodes of the new graph
  for (int32_t id = graph.num_inputs(); id < graph.num_nodes(); ++id) {
    TRENCADIS_RETURN_IF_ERROR(rewriter.Copy(id));
    const int32_t copy = rewriter.graph().num_nodes() - 1;
    const ir::Node& node = rewriter.graph().node(copy);
    if (ClassOf(node) == ir::OpClass::kBarrier) continue;
    std::vector<int32_t>& candidates = seen[HashNode(node)];
    const auto twin = std::find_if(candidates.begin(), candidates.end(), [&](int32_t other) {
      return SameComputation(rewriter.graph().node(other), node);
    });
    if (twin == candidates.end()) {
      candidates.push_back(copy);
      continue;
    }
    for (size_t i = 0; i < node.results.size(); ++i) {
      const auto output = static_cast<int32_t>(i);
      rewriter.Replace({id, output}, {*twin, output});
    }
    changed = true;
  }
  if (changed) graph = rewriter.Finish();
  return changed;
}

}  // namespace trencadis::compiler
