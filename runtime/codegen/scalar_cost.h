// What an op's scalar form costs, found by running it on a builder that only counts.
#ifndef TRENCADIS_RUNTIME_CODEGEN_SCALAR_COST_H_
#define TRENCADIS_RUNTIME_CODEGEN_SCALAR_COST_H_

#include "runtime/ir/graph.h"

namespace trencadis::codegen {

// Rough operations per element of a kElementwise node: one for an addition, ten for an elementary
// function.
int64_t OperationsPerElement(const ir::Graph& graph, const ir::Node& node);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_SCALAR_COST_H_
