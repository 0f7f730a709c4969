#include "runtime/compiler/passes/dce.h"

#include <algorithm>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/compiler/rewriter.h"

namespace trencadis::compiler {

absl::StatusOr<bool> Dce::Run(ir::Graph& graph) {
  std::vector<bool> live(graph.num_nodes(), false);
  std::fill(live.begin(), live.begin() + graph.num_inputs(), true);
  for (ir::Value output : graph.outputs()) live[output.node] = true;
  for (int32_t id = graph.num_nodes() - 1; id >= graph.num_inputs(); --id) {
    if (!live[id]) continue;
    for (ir::Value operand : graph.node(id).operands) live[operand.node] = true;
  }
  if (std::find(live.begin(), live.end(), false) == live.end()) return false;
  Rewriter rewriter(graph);
  for (int32_t id = graph.num_inputs(); id < graph.num_nodes(); ++id) {
    if (live[id]) TRENCADIS_RETURN_IF_ERROR(rewriter.Copy(id));
  }
  graph = rewriter.Finish();
  return true;
}

}  // namespace trencadis::compiler
