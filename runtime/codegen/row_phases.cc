#include "runtime/codegen/row_phases.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/codegen/scalar_cost.h"

namespace trencadis::codegen {
namespace {

// Operations per element above which a value is kept rather than computed again: a store and a load
// of the innermost cache.
constexpr int64_t kKeepAbove = 5;
constexpr int64_t kRounding = 6;  // operations of rounding to bf16
constexpr int64_t kManyOperations = 1000;
constexpr int64_t kScratchAlignment = 64;
constexpr int64_t kMaxLanes = 16;

class Planner {
 public:
  explicit Planner(const LoopBody& body)
      : body_(body),
        depth_(body.exprs.size()),
        cost_(body.exprs.size()),
        computed_in_(body.exprs.size(), -1),
        copied_(body.exprs.size(), -1) {}

  RowPhases Run();

 private:
  void FindDepthsAndCosts();
  bool IsFlat(int group) const { return body_.groups[group].size() == 1; }
  int64_t Copy(int expr);
  void Visit(int expr, int phase);

  const LoopBody& body_;
  RowPhases result_;
  std::vector<int> depth_;        // of each expression: how many reductions come before it
  std::vector<int64_t> cost_;     // operations to compute it again
  std::vector<int> computed_in_;  // the phase that computes it first
  std::vector<int64_t> copied_;   // offset in scratch
};

void Planner::FindDepthsAndCosts() {
  for (size_t i = 0; i < body_.exprs.size(); ++i) {
    const Expr& expr = body_.exprs[i];
    if (expr.kind == Expr::Kind::kReduction) {
      depth_[i] = depth_[body_.reductions[expr.source].operand] + 1;
      continue;
    }
    if (expr.kind == Expr::Kind::kOp) {
      cost_[i] = OperationsPerElement(*body_.graph, *expr.node);
      if (expr.dtype == DType::kBF16) cost_[i] += kRounding;
    }
    for (int operand : expr.operands) {
      depth_[i] = std::max(depth_[i], depth_[operand]);
      cost_[i] = std::min(cost_[i] + cost_[operand], kManyOperations);
    }
  }
}

// Room in scratch for a row of `expr`, the last vector in full.
int64_t Planner::Copy(int expr) {
  if (copied_[expr] >= 0) return copied_[expr];
  const int64_t element = body_.exprs[expr].dtype == DType::kI64 ? 8 : 4;
  int64_t count = 0;
  for (int group = 1; group < static_cast<int>(body_.groups.size()); ++group) {
    count = std::max(count, body_.GroupCount(group));
  }
  copied_[expr] = result_.scratch_bytes;
  const int64_t bytes = (count + kMaxLanes) * element;
  result_.scratch_bytes += (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  return copied_[expr];
}

// Decides where phase `phase` takes `expr` from.
void Planner::Visit(int id, int phase) {
  const Expr& expr = body_.exprs[id];
  const int group = result_.phases[phase].group;
  if ((expr.variables & body_.GroupMask(group)) == 0) return;  // once per row
  const int first = computed_in_[id];
  if (first == phase) return;
  if (first >= 0) {
    if (copied_[id] >= 0) return;
    if (cost_[id] > kKeepAbove) {
      result_.phases[first].writes.push_back({id, Copy(id)});
      return;
    }
  } else {
    computed_in_[id] = phase;
  }
  for (int operand : expr.operands) Visit(operand, phase);
}

RowPhases Planner::Run() {
  FindDepthsAndCosts();
  // By depth; within one, what reads a flat copy comes after what writes it.
  std::map<std::tuple<int, bool, int>, RowPhase> ordered;
  const auto phase_at = [&](int depth, bool reads_flat, int group) -> RowPhase& {
    RowPhase& phase = ordered[{depth, reads_flat, group}];
    phase.group = group;
    phase.reads_flat = reads_flat;
    return phase;
  };
  for (size_t i = 0; i < body_.reductions.size(); ++i) {
    const Reduction& reduction = body_.reductions[i];
    const int depth = depth_[reduction.operand];
    const bool flat = IsFlat(reduction.group);
    phase_at(depth, !flat, reduction.group).reductions.push_back(static_cast<int>(i));
    if (flat) continue;
    auto& writes = phase_at(depth, false, reduction.group).writes;
    if (copied_[reduction.operand] < 0) {
      writes.push_back({reduction.operand, Copy(reduction.operand)});
    }
  }
  for (size_t i = 0; i < body_.stores.size(); ++i) {
    const Store& store = body_.stores[i];
    if (store.group == 0) {
      result_.row_stores.push_back(static_cast<int>(i));
    } else {
      phase_at(depth_[store.expr], false, store.group).stores.push_back(static_cast<int>(i));
    }
  }
  for (auto& [key, phase] : ordered) result_.phases.push_back(std::move(phase));
  for (int p = 0; p < static_cast<int>(result_.phases.size()); ++p) {
    if (result_.phases[p].reads_flat) continue;
    for (const ScratchCopy& copy : std::vector<ScratchCopy>(result_.phases[p].writes)) {
      if (computed_in_[copy.expr] < 0) Visit(copy.expr, p);
    }
    for (int reduction : result_.phases[p].reductions)
      Visit(body_.reductions[reduction].operand, p);
    for (int store : result_.phases[p].stores) Visit(body_.stores[store].expr, p);
  }
  return result_;
}

}  // namespace

RowPhases PlanRowPhases(const LoopBody& body) { return Planner(body).Run(); }

}  // namespace trencadis::codegen
