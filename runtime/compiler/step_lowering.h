// StepLowering: what each node of a graph becomes: a kernel, a library call, a builtin, or nothing.
//
// Made for one graph, after the passes and before scheduling. Used by one thread at a time.
#ifndef TRENCADIS_RUNTIME_COMPILER_STEP_LOWERING_H_
#define TRENCADIS_RUNTIME_COMPILER_STEP_LOWERING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "runtime/codegen/linear_cross_entropy.h"
#include "runtime/codegen/target.h"
#include "runtime/compiler/kernel_table.h"
#include "runtime/compiler/product.h"
#include "runtime/ir/graph.h"
#include "runtime/recipe/recipe.pb.h"

namespace trencadis::compiler {

class StepLowering {
 public:
  // `graph` outlives the lowering. Unimplemented when a node has no kernel.
  static absl::StatusOr<StepLowering> Build(const ir::Graph& graph);

  // Whether `node` is a step at all: inputs, constants, reshapes, barriers and nodes with empty
  // results are not.
  bool IsStep(int32_t node) const { return kinds_[node] != Kind::kNone; }
  // Whether the step may write result `result` over operand `operand`.
  bool MayOverwrite(int32_t node, int operand, int result);

  // Compiles the kernels for `target`; needed by ToStep.
  absl::Status Compile(const codegen::Target& target, int threads);
  const KernelTable& kernels() const { return kernels_; }
  // The product of `node`, or null.
  const Product* ProductOf(int32_t node) const;

  // The step of `node` with kind, cost and label, but without slices; `scratch_bytes` is what it
  // needs. `packed_b`: a product reads a packed copy of operand b.
  absl::StatusOr<recipe::Step> ToStep(int32_t node, const codegen::Target& target, bool packed_b,
                                      uint64_t& scratch_bytes);
  // Which of the node's operands the step reads, in the step's order.
  std::vector<int> StepOperands(int32_t node) const;

 private:
  enum class Kind { kNone, kKernel, kProduct, kLoss, kBuiltin };

  explicit StepLowering(const ir::Graph& graph) : graph_(&graph) {}
  absl::Status Classify(int32_t node);
  void AddCost(const ir::Node& node, double flops, recipe::Step& step) const;

  const ir::Graph* graph_;
  KernelTable kernels_;
  std::vector<Kind> kinds_;  // by node
  absl::flat_hash_map<int32_t, Product> products_;
  absl::flat_hash_map<int32_t, recipe::BuiltinStep> builtins_;
  absl::flat_hash_map<std::string, int64_t> scratch_bytes_;  // of library calls, by their spec
};

// The proto form of `spec`.
recipe::MatMulStep ToProto(const codegen::MatMulSpec& spec);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_STEP_LOWERING_H_
