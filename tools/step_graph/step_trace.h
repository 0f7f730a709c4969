// StepTrace: the graphs that one step of a model becomes, and what the compiler makes of them.
#ifndef TRENCADIS_TOOLS_STEP_GRAPH_STEP_TRACE_H_
#define TRENCADIS_TOOLS_STEP_GRAPH_STEP_TRACE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "api/schema/tools.pb.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/pass_pipeline.h"
#include "runtime/device/memory_stats.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::tools {

// One launch.
struct TracedGraph {
  ir::Graph graph;  // as traced
  ir::Graph optimised;
  std::vector<compiler::PassReport> passes;
  recipe::RecipeProto recipe;
};

struct StepTrace {
  std::vector<TracedGraph> launches;  // of one steady step
  MemoryStats memory;                 // of the device after it
};

// Runs the step that `options` (defaults applied) describe twice on a device that only counts, with
// weights of no value, and returns the second. InvalidArgument or NotFound for what the user must
// change.
absl::StatusOr<StepTrace> TraceStep(const schema::GraphOptions& options);

}  // namespace trencadis::tools

#endif  // TRENCADIS_TOOLS_STEP_GRAPH_STEP_TRACE_H_
