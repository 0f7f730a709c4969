// Random graphs for property tests: whatever the compiler does to one, its values stay the same.
#ifndef TRENCADIS_RUNTIME_COMPILER_RANDOM_GRAPH_H_
#define TRENCADIS_RUNTIME_COMPILER_RANDOM_GRAPH_H_

#include <cstdint>

#include "runtime/ir/graph.h"

namespace trencadis::compiler {

struct RandomGraphOptions {
  int nodes = 30;
  bool with_products = true;
  bool with_bf16 = true;
};

// A valid graph of f32 and bf16 tensors with a few inputs and outputs; equal for equal seeds. Ops
// keep numbers of moderate size, so that no result is infinite or NaN for arguments in (-2, 2).
ir::Graph RandomGraph(uint32_t seed, const RandomGraphOptions& options = {});

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_RANDOM_GRAPH_H_
