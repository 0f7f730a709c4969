#include <algorithm>
#include <vector>

#include "runtime/codegen/loop_kernels.h"
#include "runtime/codegen/scalar_cost.h"

namespace trencadis::codegen {
namespace {

constexpr double kBytesPerNs = 10;  // one core's share of memory bandwidth
constexpr double kVectorOpsPerNs = 2;
constexpr double kWorthwhileNs = 10000;  // some times what waking a thread costs

}  // namespace

KernelCost CostOf(const LoopBody& body) {
  KernelCost cost;
  std::vector<bool> is_read(body.graph->num_inputs());
  for (const Expr& expr : body.exprs) {
    if (expr.kind == Expr::Kind::kLoad) is_read[expr.source] = true;
    if (expr.kind != Expr::Kind::kOp) continue;
    double count = 1;
    for (size_t v = 0; v < body.extents.size(); ++v) {
      if (expr.variables >> v & 1) count *= static_cast<double>(body.extents[v]);
    }
    cost.flops += count * static_cast<double>(OperationsPerElement(*body.graph, *expr.node));
  }
  for (const Reduction& reduction : body.reductions) {
    cost.flops += static_cast<double>(body.GroupCount(0) * body.GroupCount(reduction.group));
  }
  for (int i = 0; i < body.graph->num_inputs(); ++i) {
    if (is_read[i])
      cost.bytes += static_cast<double>(body.graph->type(body.graph->input(i)).byte_size());
  }
  for (ir::Value output : body.graph->outputs()) {
    cost.bytes += static_cast<double>(body.graph->type(output).byte_size());
  }
  return cost;
}

int64_t GrainFor(const KernelCost& cost, int64_t units, int lanes) {
  if (units <= 0) return 1;
  const double ns = cost.bytes / kBytesPerNs + cost.flops / (lanes * kVectorOpsPerNs);
  const double ns_per_unit = std::max(ns / static_cast<double>(units), 1.0);
  return std::max<int64_t>(1, static_cast<int64_t>(kWorthwhileNs / ns_per_unit));
}

}  // namespace trencadis::codegen
