// FusionAnalysis: what the fusion pass knows about a graph before it groups anything.
//
// Every node has a role. *Inline* nodes (views, generators) are read through: each kernel that
// needs one computes it in its own body. *Compute* nodes (elementwise, reductions, and views that
// something else than a kernel reads) are what groups are made of. *Opaque* nodes stay as they are.
// Immutable.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_ANALYSIS_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_ANALYSIS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

enum class FusionRole { kInline, kCompute, kOpaque };

// The loops a node wants.
enum class LoopForm {
  kElementwise,  // `elements` of them
  kRow,          // folds trailing axes: `rows` results of `columns` each
  kColumn,       // folds leading axes: `elements` results
};

struct LoopShape {
  LoopForm form = LoopForm::kElementwise;
  int64_t elements = 0;  // elementwise and column: of each result
  int64_t rows = 0;
  int64_t columns = 0;
  // Of a column reduction: its operand's dimensions and axes, which all in a group share.
  std::vector<int64_t> operand_dims;
  std::vector<int64_t> axes;

  // Of the largest values that the loops run over (of a column reduction: its results).
  int64_t full_elements() const { return form == LoopForm::kRow ? rows * columns : elements; }

  bool operator==(const LoopShape&) const = default;
};

class FusionAnalysis {
 public:
  // `graph` outlives the analysis.
  explicit FusionAnalysis(const ir::Graph& graph);

  const ir::Graph& graph() const { return graph_; }
  FusionRole role(int32_t node) const { return roles_[node]; }
  const LoopShape& shape(int32_t node) const { return shapes_[node]; }

  // The value that is read when `value` is: itself, or what lies behind its chain of inline views.
  // Invalid (node -1) when that is a generator.
  ir::Value Leaf(ir::Value value) const;
  // The leaves of a node's operands, each once.
  absl::Span<const ir::Value> Dependencies(int32_t node) const { return dependencies_[node]; }
  // The compute and opaque nodes that depend on any result of `node`, in order. Graph outputs are
  // not among them.
  absl::Span<const int32_t> Users(int32_t node) const { return users_[node]; }
  // Whether something beside kernels reads `value` from memory: an opaque node or the outputs.
  bool NeedsMemory(ir::Value value) const;
  // Products and composites before `node`.
  int32_t HeaviesBefore(int32_t node) const { return heavies_before_[node]; }

 private:
  void AssignRoles();
  void MarkMaterialisedViews();
  void CollectDependencies();
  LoopShape ShapeOf(const ir::Node& node) const;

  const ir::Graph& graph_;
  std::vector<FusionRole> roles_;
  std::vector<LoopShape> shapes_;
  std::vector<std::vector<ir::Value>> dependencies_;
  std::vector<std::vector<int32_t>> users_;
  std::vector<std::vector<bool>> needs_memory_;  // by node, output
  std::vector<int32_t> heavies_before_;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_ANALYSIS_H_
