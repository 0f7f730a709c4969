// An executable that interprets its graph with the ops' reference implementations: the yardstick in
// place of compiled code. Slow; needs no workspace.
#ifndef TRENCADIS_RUNTIME_DEVICE_REFERENCE_EXECUTABLE_H_
#define TRENCADIS_RUNTIME_DEVICE_REFERENCE_EXECUTABLE_H_

#include <memory>
#include <vector>

#include "runtime/device/executable.h"
#include "runtime/ir/graph.h"

namespace trencadis {

// `graph` passes ir::VerifyGraph. `donated`, by graph input: outputs take over the storage of
// donated inputs of their size, as compiled code does where it can.
std::shared_ptr<const Executable> MakeReferenceExecutable(ir::Graph graph,
                                                          const std::vector<bool>& donated);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_DEVICE_REFERENCE_EXECUTABLE_H_
