// ToolMain: what every tool's main does: read the command line, run, report, exit code.
#ifndef TRENCADIS_TOOLS_COMMON_TOOL_MAIN_H_
#define TRENCADIS_TOOLS_COMMON_TOOL_MAIN_H_

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/schema/load.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/logging.h"

namespace trencadis::tools {

// Prints the error for a person and returns its exit code; 0 for OK.
int Exit(const absl::Status& status);

// Runs `run` on the options of the command line, defaults applied. `Tool` is a message of
// tools.proto.
template <typename Tool>
int ToolMain(int argc, char** argv, const std::function<absl::Status(const Tool& options)>& run) {
  InstallInterruptHandler();
  const auto loaded = schema::Load<Tool>(std::vector<std::string>(argv + 1, argv + argc));
  if (!loaded.ok()) return Exit(loaded.status());
  if (loaded->help.has_value()) {
    std::cout << *loaded->help;
    return kExitDone;
  }
  for (const std::string& warning : loaded->warnings) TRENCADIS_LOG(WARNING) << warning;
  return Exit(run(loaded->options));
}

}  // namespace trencadis::tools

#endif  // TRENCADIS_TOOLS_COMMON_TOOL_MAIN_H_
