// What //tools:graph prints and writes about a traced step.
#ifndef TRENCADIS_TOOLS_STEP_GRAPH_REPORT_H_
#define TRENCADIS_TOOLS_STEP_GRAPH_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "tools/step_graph/step_trace.h"

namespace trencadis::tools {

// Nodes before and after each pass, steps by kind, floating-point work and memory of one launch.
std::string SummaryText(const TracedGraph& traced);
// The same as one JSON object.
std::string SummaryJson(const TracedGraph& traced);

// One of what --show names.
std::string ShownText(const TracedGraph& traced, const std::string& what);

// Writes the files that --output_dir's help names; those of launch 1, 2, ... get "-1", "-2", ...
// before their ending where a step has several.
absl::Status WriteFiles(const StepTrace& trace, const std::string& directory);

}  // namespace trencadis::tools

#endif  // TRENCADIS_TOOLS_STEP_GRAPH_REPORT_H_
