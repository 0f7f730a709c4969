// The pass list, in order. The one place to add a pass.
#ifndef TRENCADIS_RUNTIME_COMPILER_OPTIMISE_H_
#define TRENCADIS_RUNTIME_COMPILER_OPTIMISE_H_

#include <string>
#include <vector>

#include "runtime/compiler/pass_pipeline.h"

namespace trencadis::compiler {

// All passes but those named in `disabled`.
PassPipeline OptimisationPipeline(std::string graph_name, std::vector<std::string> disabled);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_OPTIMISE_H_
