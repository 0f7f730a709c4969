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
size_t PhaseOfStore(const RowPhases& phases, int index) {
  for (size_t p = 0; p < phases.phases.size(); ++p) {
    const std::vector<int>& stores = phases.phases[p].stores;
    if (std::find(stores.begin(), stores.end(), index) != stores.end()) return p;
  }
  return phases.phases.size();
}

// True when `input` is read to compute any of `exprs`.
bool Reads(const LoopBody& body, const std::vector<int>& exprs, int input) {
  std::vector<bool> needed(body.exprs.size());
  for (int expr : exprs) needed[expr] = true;
  for (size_t i = body.exprs.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Expr& expr = body.exprs[i];
    if (expr.kind == Expr::Kind::kLoad && expr.source == input) return true;
    for (int operand : expr.operands) needed[operand] = true;
  }
  return false;
}

// What a row kernel computes in the phases after the one that makes store `index`. That some of it
// is kept in scratch only means that less is read.
std::vector<int> ComputedAfter(const LoopBody& body, int index) {
  const RowPhases phases = PlanRowPhases(body);
  const size_t phase = PhaseOfStore(phases, index);
  std::vector<int> exprs;
  for (size_t p = phase + 1; p < phases.phases.size(); ++p) {
    for (int reduction : phases.phases[p].reductions) {
      exprs.push_back(body.reductions[reduction].operand);
    }
    for (int store : phases.phases[p].stores) exprs.push_back(body.stores[store].expr);
  }
  if (phase == phases.phases.size()) return exprs;
  for (int store : phases.row_stores) exprs.push_back(body.stores[store].expr);
  return exprs;
}

// Whether `input` is read at other places, or at a later time, than store `index` is written.
bool ReadsElsewhere(const LoopBody& body, int index, int input) {
  for (const Expr& expr : body.exprs) {
    const bool reads = expr.kind == Expr::Kind::kLoad && expr.source == input;
    if (reads && !(expr.index == body.stores[index].index)) return true;
  }
  std::vector<int> others;
  if (body.form == BodyForm::kRow) others = ComputedAfter(body, index);
  // Threads at other chunks of the same column may not have folded them yet.
  if (body.form == BodyForm::kColumn) {
    for (const Reduction& reduction : body.reductions) others.push_back(reduction.operand);
  }
  return Reads(body, others, input);
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
  if (!loops.ok()) return false;
  for (size_t i = 0; i < loops->stores.size(); ++i) {
    if (loops->stores[i].output == output) {
      return !ReadsElsewhere(*loops, static_cast<int>(i), input);
    }
  }
  return false;
}

}  // namespace trencadis::codegen
