// Rewriter: how a pass builds the new graph from the old one, node by node in topological order.
//
// Used by one thread at a time.
#ifndef TRENCADIS_RUNTIME_COMPILER_REWRITER_H_
#define TRENCADIS_RUNTIME_COMPILER_REWRITER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

class Rewriter {
 public:
  // The new graph starts with the inputs of `source`, which outlives the rewriter.
  explicit Rewriter(const ir::Graph& source);

  const ir::Graph& source() const { return source_; }
  const ir::Graph& graph() const { return graph_; }

  // The value in the new graph that stands for `old` of the source.
  ir::Value Map(ir::Value old) const { return map_[old.node][old.output]; }
  std::vector<ir::Value> MapOperands(int32_t node) const;
  bool IsMapped(ir::Value old) const { return Map(old).node >= 0; }

  // Appends a node, whose operands are values of the new graph.
  absl::StatusOr<int32_t> Add(const ir::OpDef* op, std::vector<ir::Value> operands,
                              ir::Attributes attributes, std::string label);
  // The same for a node with one result.
  absl::StatusOr<ir::Value> Add1(const ir::OpDef* op, std::vector<ir::Value> operands,
                                 ir::Attributes attributes, std::string label);
  // Appends a copy of source node `node` on mapped operands, and maps its results to the copy's.
  absl::Status Copy(int32_t node);
  // From now on `old` stands for `value`, which has its type.
  void Replace(ir::Value old, ir::Value value) { map_[old.node][old.output] = value; }

  // The new graph, with the source's outputs mapped.
  ir::Graph Finish();

 private:
  const ir::Graph& source_;
  ir::Graph graph_;
  std::vector<std::vector<ir::Value>> map_;  // by node, output
};

// Rewrites every node that has one result by `rule`, which gives the value (of the new graph) that
// replaces it, or nothing to copy it. The rule sees operands that are rewritten already. Returns
// whether any node was replaced.
using RewriteRule =
    absl::FunctionRef<absl::StatusOr<std::optional<ir::Value>>(Rewriter& rewriter, int32_t node)>;
absl::StatusOr<bool> RewriteNodes(ir::Graph& graph, RewriteRule rule);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_REWRITER_H_
