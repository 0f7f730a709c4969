#include "runtime/codegen/fusion.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "runtime/base/status.h"
#include "runtime/codegen/llvm_compiler.h"
#include "runtime/codegen/loop_body.h"
#include "runtime/codegen/loop_kernels.h"
#include "runtime/codegen/row_phases.h"

namespace trencadis::codegen {
namespace {

// Empty outputs ask for no loop, whatever the ops.
bool ComputesNothing(const ir::Graph& body) {
  return !body.outputs().empty() &&
         std::all_of(body.outputs().begin(), body.outputs().end(),
                     [&](ir::Value output) { return body.type(output).shape.num_elements() == 0; });
}

KernelCode EmitKernel(const LoopBody& body, int lanes, llvm::Module& module,
                      const std::string& symbol) {
  switch (body.form) {
    case BodyForm::kElementwise:
      return EmitElementwiseKernel(body, lanes, module, symbol);
    case BodyForm::kRow:
      return EmitRowKernel(body, lanes, module, symbol);
    case BodyForm::kColumn:
      break;
  }
  return EmitColumnKernel(body, lanes, module, symbol);
}

// Which phase of a row makes store `index`, or the number of phases for one made after them all.
int PhaseOfStore(const RowPhases& phases, int index) {
  for (size_t p = 0; p < phases.phases.size(); ++p) {
    const std::vector<int>& stores = phases.phases[p].stores;
    if (std::find(stores.begin(), stores.end(), index) != stores.end()) return static_cast<int>(p);
  }
  return static_cast<int>(phases.phases.size());
}

// True when a phase after `phase` reads `input`. Reductions and stores name what a phase computes;
// scratch copies only make it read less.
bool IsReadAfter(const LoopBody& body, const RowPhases& phases, int phase, int input) {
  std::vector<bool> needed(body.exprs.size());
  for (size_t p = phase + 1; p < phases.phases.size(); ++p) {
    for (int reduction : phases.phases[p].reductions) {
      needed[body.reductions[reduction].operand] = true;
    }
    for (int store : phases.phases[p].stores) needed[body.stores[store].expr] = true;
  }
  const bool is_last = phase == static_cast<int>(phases.phases.size());
  for (int store : phases.row_stores) needed[body.stores[store].expr] = !is_last;
  for (size_t i = body.exprs.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Expr& expr = body.exprs[i];
    if (expr.kind == Expr::Kind::kLoad && expr.source == input) return true;
    for (int operand : expr.operands) needed[operand] = true;
  }
  return false;
}

}  // namespace

absl::Status CheckFusible(const ir::Graph& body) {
  if (ComputesNothing(body)) return absl::OkStatus();
  return LoopBody::Build(body).status();
}

absl::StatusOr<KernelCode> CompileFusion(const ir::Graph& body, const Target& target,
                                         std::string symbol) {
  if (ComputesNothing(body)) return KernelCode{};
  TRENCADIS_ASSIGN_OR_RETURN(const LoopBody loops, LoopBody::Build(body));
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  KernelCode kernel = EmitKernel(loops, target.Lanes(), module, symbol);
  TRENCADIS_ASSIGN_OR_RETURN(kernel.object, CompileToObject(module, target));
  return kernel;
}

std::vector<absl::StatusOr<KernelCode>> CompileFusions(absl::Span<const FusionJob> jobs,
                                                       const Target& target, int threads) {
  std::vector<absl::StatusOr<KernelCode>> results(jobs.size(), absl::InternalError("not compiled"));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      results[i] = CompileFusion(*jobs[i].body, target, jobs[i].symbol);
    }
  };
  std::vector<std::thread> helpers;
  const int count = std::min<int>(threads, static_cast<int>(jobs.size()));
  for (int i = 1; i < count; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  return results;
}

bool CanAlias(const ir::Graph& body, int input, int output) {
  if (!(body.type(body.input(input)) == body.type(body.outputs()[output]))) return false;
  if (ComputesNothing(body)) return true;
  const absl::StatusOr<LoopBody> loops = LoopBody::Build(body);
  // A column's accumulators read every row before the first result is written, but other units of
  // the same column may not have: only elements that one unit reads and writes are safe.
  if (!loops.ok() || loops->form == BodyForm::kColumn) return false;
  for (size_t i = 0; i < loops->stores.size(); ++i) {
    const Store& store = loops->stores[i];
    if (store.output != output) continue;
    for (const Expr& expr : loops->exprs) {
      const bool reads = expr.kind == Expr::Kind::kLoad && expr.source == input;
      if (reads && !(expr.index == store.index)) return false;
    }
    if (loops->form == BodyForm::kElementwise) return true;
    const RowPhases phases = PlanRowPhases(*loops);
    return !IsReadAfter(*loops, phases, PhaseOfStore(phases, static_cast<int>(i)), input);
  }
  return false;
}

}  // namespace trencadis::codegen
