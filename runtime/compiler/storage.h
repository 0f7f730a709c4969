// Storage: where every value of a scheduled graph lives, before the arena is laid out.
//
// Values that are one thing under several names (a reshape, a barrier) share their *root*'s place.
// A result may take over the place of an operand that dies there, if its kernel allows it; a graph
// output is made in its own buffer, or in that of a donated argument, and so are the values that
// turn into it in place. All else goes into arena buffers with lifetimes, for the memory planner.
// Immutable once assigned.
#ifndef TRENCADIS_RUNTIME_COMPILER_STORAGE_H_
#define TRENCADIS_RUNTIME_COMPILER_STORAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/compiler/memory_planner.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

// The value whose memory `value` names: what lies behind reshapes and barriers.
ir::Value RootOf(const ir::Graph& graph, ir::Value value);

// Whether result `result` of `node` may be written over its operand `operand`.
using MayOverwrite = absl::FunctionRef<bool(int32_t node, int operand, int result)>;

struct StorageRequest {
  const ir::Graph* graph = nullptr;
  // The nodes that are steps, in the order in which they run.
  absl::Span<const int32_t> steps;
  std::vector<bool> donated;  // by graph input
  // False: no value takes over another's place, no argument's memory is used.
  bool reuse = true;
};

enum class PlaceKind { kArena, kInput, kOutput, kConstant };

struct Place {
  PlaceKind kind = PlaceKind::kArena;
  int32_t index = -1;  // of the arena buffer, the input, the output, or the constant's node
};

struct OutputPair {
  int32_t output = -1;
  int32_t input = -1;
};

struct Storage {
  // By node, output: for roots only.
  std::vector<std::vector<Place>> places;
  std::vector<Lifetime> buffers;  // of the arena; steps are indices into `steps`
  std::vector<std::string> buffer_labels;
  std::vector<OutputPair> donations;       // the output takes over the donated input's memory
  std::vector<OutputPair> passed_through;  // the output is the input
  // Outputs that nothing computes in place: copies of the graph's output values, to be made after
  // all steps.
  std::vector<int32_t> copied_outputs;

  const Place& PlaceOf(const ir::Graph& graph, ir::Value value) const {
    const ir::Value root = RootOf(graph, value);
    return places[root.node][root.output];
  }
};

Storage AssignStorage(const StorageRequest& request, MayOverwrite may_overwrite);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_STORAGE_H_
