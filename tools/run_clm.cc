// Trains a causal language model; see --help and docs/reference/run_clm.md.
#include "api/schema/tools.pb.h"
#include "tools/common/run_causal_lm.h"
#include "tools/common/tool_main.h"

int main(int argc, char** argv) {
  using Tool = trencadis::schema::RunClm;
  return trencadis::tools::ToolMain<Tool>(argc, argv, trencadis::tools::RunCausalLm<Tool>);
}
