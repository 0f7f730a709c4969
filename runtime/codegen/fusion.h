// Fused loops: a body graph of elementwise ops, generators, views and reductions becomes one
// kernel.
//
// A body takes one of three forms, told from its reductions (axes of size one do not count):
//   elementwise  no reduction. Every output has the same number of elements.
//   row          every reduction folds the last axis of its operand (and possibly others), and all
//                keep the same number R of elements. Outputs have R or R*C elements, C being the
//                number folded; a result may be broadcast back over its row and reduced again, so
//                softmax and layer norm are one kernel.
//   column       every reduction keeps the last axis of its operand, and all operands have one
//                shape and fold the same axes. Outputs have the reductions' number of elements.
// Views compose into the addresses of loads. A reshape of a computed value must split or merge axes
// evenly (the compiler materialises the operand of any other).
//
// Every op rounds its result to its own type exactly as it would alone, elementwise functions give
// the same bits for an element wherever it lies, and a reduction's order follows only from the
// number of elements folded and Target::Lanes(): fused, unfused and split runs agree bit for bit.
// All functions are thread-safe.
#ifndef TRENCADIS_RUNTIME_CODEGEN_FUSION_H_
#define TRENCADIS_RUNTIME_CODEGEN_FUSION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/codegen/kernel.h"
#include "runtime/codegen/target.h"
#include "runtime/ir/graph.h"

namespace trencadis::codegen {

// OK when CompileFusion accepts `body`; otherwise Unimplemented, saying which node stands in the
// way. Costs microseconds: no code is generated.
absl::Status CheckFusible(const ir::Graph& body);

// Compiles `body`. The kernel's buffers are the body's inputs, then its outputs. Stages are named
// from `symbol`, which must be unique among kernels loaded together.
absl::StatusOr<KernelCode> CompileFusion(const ir::Graph& body, const Target& target,
                                         std::string symbol);

struct FusionJob {
  const ir::Graph* body = nullptr;
  std::string symbol;
};

// Compiles all of `jobs` on up to `threads` threads (of their own, which end before it returns);
// results are in the order of `jobs`.
std::vector<absl::StatusOr<KernelCode>> CompileFusions(absl::Span<const FusionJob> jobs,
                                                       const Target& target, int threads);

// True when output `output` may be written over input `input`: types match, and each element of the
// input is read only where the output's same element is computed, before it is written. The kernel
// is the same either way. One input may serve one output only.
bool CanAlias(const ir::Graph& body, int input, int output);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_FUSION_H_
