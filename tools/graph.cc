// Shows what a model's step becomes; see --help and docs/reference/graph.md.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "api/schema/tools.pb.h"
#include "runtime/base/status.h"
#include "tools/common/tool_main.h"
#include "tools/step_graph/report.h"
#include "tools/step_graph/step_trace.h"

namespace trencadis::tools {
namespace {

absl::Status Run(const schema::Graph& tool) {
  const schema::GraphOptions& options = tool.graph();
  TRENCADIS_ASSIGN_OR_RETURN(const StepTrace trace, TraceStep(options));
  for (const TracedGraph& traced : trace.launches) {
    if (options.json()) {
      std::cout << SummaryJson(traced) << "\n";
    } else if (options.show().empty()) {
      std::cout << SummaryText(traced);
    }
    if (options.json()) continue;
    for (const std::string& what : options.show()) std::cout << ShownText(traced, what);
  }
  if (!options.has_output_dir()) return absl::OkStatus();
  TRENCADIS_RETURN_IF_ERROR(WriteFiles(trace, options.output_dir()));
  std::cerr << "wrote graphs, recipe, plan and timeline to " << options.output_dir() << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace trencadis::tools

int main(int argc, char** argv) {
  using Tool = trencadis::schema::Graph;
  return trencadis::tools::ToolMain<Tool>(argc, argv, trencadis::tools::Run);
}
