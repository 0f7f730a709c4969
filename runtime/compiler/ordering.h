// The order of a graph's steps: the scheduler's problem as the graph poses it.
#ifndef TRENCADIS_RUNTIME_COMPILER_ORDERING_H_
#define TRENCADIS_RUNTIME_COMPILER_ORDERING_H_

#include <cstdint>
#include <vector>

#include "runtime/compiler/scheduler.h"
#include "runtime/compiler/step_lowering.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

// Dependencies (a barrier's included) and values of `graph`. A node that can update a donated
// argument in place is wished after the argument's other readers.
ScheduleProblem ScheduleProblemOf(const ir::Graph& graph, const std::vector<bool>& donated,
                                  StepLowering& lowering);

// The nodes that are steps, in the order in which they run.
std::vector<int32_t> OrderSteps(const ir::Graph& graph, const std::vector<bool>& donated,
                                StepLowering& lowering);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_ORDERING_H_
