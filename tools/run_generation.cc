// Continues prompts with a causal language model; see --help and docs/reference/run_generation.md.
#include <memory>

#include "api/schema/tools.pb.h"
#include "runtime/base/status.h"
#include "tools/common/tool_main.h"
#include "tools/generation/generation_run.h"
#include "training/jobs/session.h"

namespace trencadis::tools {
namespace {

absl::Status Run(const schema::RunGeneration& options) {
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::unique_ptr<training::Session> session,
      training::Session::Create(options.runtime(), options.device(), /*metering=*/false));
  TRENCADIS_ASSIGN_OR_RETURN(GenerationRun run, GenerationRun::Create(options, *session));
  return run.Run();
}

}  // namespace
}  // namespace trencadis::tools

int main(int argc, char** argv) {
  using Tool = trencadis::schema::RunGeneration;
  return trencadis::tools::ToolMain<Tool>(argc, argv, trencadis::tools::Run);
}
