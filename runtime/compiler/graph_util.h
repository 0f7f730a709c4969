// Questions that several passes ask about a graph. Pure functions; thread-safe.
#ifndef TRENCADIS_RUNTIME_COMPILER_GRAPH_UTIL_H_
#define TRENCADIS_RUNTIME_COMPILER_GRAPH_UTIL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

// Who reads a value; `user` -1 means the graph's outputs, and `operand` is then the output's index.
struct Use {
  int32_t user = -1;
  int32_t operand = 0;
};

// All uses of all values, in the users' order.
class UseLists {
 public:
  explicit UseLists(const ir::Graph& graph);

  absl::Span<const Use> Of(ir::Value value) const {
    const int32_t slot = first_slot_[value.node] + value.output;
    return absl::MakeConstSpan(uses_).subspan(begin_[slot], begin_[slot + 1] - begin_[slot]);
  }
  // A dense number of `value`, below num_values().
  int32_t Slot(ir::Value value) const { return first_slot_[value.node] + value.output; }
  int32_t num_values() const { return static_cast<int32_t>(begin_.size()) - 1; }

 private:
  std::vector<int32_t> first_slot_;  // by node
  std::vector<int32_t> begin_;       // by slot, into uses_
  std::vector<Use> uses_;
};

inline ir::OpClass ClassOf(const ir::Node& node) { return node.op->traits.op_class; }

// Whether `node` takes real time: a product, a composite, indexing. What lies between two of them
// is how passes measure distance.
bool IsHeavy(const ir::Node& node);

// The number that every element of `value` has: a constant with equal elements, or a broadcast or
// reshape of one. Nothing for other values, and for NaN.
std::optional<double> SplatValue(const ir::Graph& graph, ir::Value value);

// The source dtype's every value survives conversion to `to` and back.
bool ConvertsExactly(DType from, DType to);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_GRAPH_UTIL_H_
