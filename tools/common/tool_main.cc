#include "tools/common/tool_main.h"

namespace trencadis::tools {

int Exit(const absl::Status& status) {
  if (!status.ok()) std::cerr << "error: " << status.message() << "\n";
  return ExitCodeFor(status);
}

}  // namespace trencadis::tools
