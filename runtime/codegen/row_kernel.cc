#include <algorithm>

#include "runtime/codegen/lane_loops.h"
#include "runtime/codegen/loop_kernels.h"
#include "runtime/codegen/row_phases.h"

namespace trencadis::codegen {
namespace {

constexpr int64_t kFewRows = 16;
constexpr int64_t kPartialBytes = 8;  // of one chunk's partial result, whatever its type

class RowKernel {
 public:
  RowKernel(const LoopBody& body, int lanes, llvm::Module& module, const std::string& symbol)
      : body_(body),
        phases_(PlanRowPhases(body)),
        lanes_(lanes),
        module_(module),
        symbol_(symbol) {}

  KernelCode Emit() {
    KernelCode kernel;
    kernel.cost = CostOf(body_);
    if (SplitsRows()) {
      EmitTwoStages(kernel);
      return kernel;
    }
    ExprEmitter emitter(body_, lanes_, module_, symbol_);
    const auto row = [&](llvm::Value* index, const Values&) -> Values {
      emitter.SetVariablesFrom(index, body_.groups[0]);
      for (const RowPhase& phase : phases_.phases) EmitPhase(emitter, phase);
      StoreRow(emitter);
      return {};
    };
    emitter.For(emitter.begin_unit(), emitter.end_unit(), 1, {}, row);
    emitter.Finish();
    const int64_t rows = body_.GroupCount(0);
    kernel.stages.push_back({symbol_, rows, GrainFor(kernel.cost, rows, lanes_)});
    kernel.scratch_bytes_per_thread = phases_.scratch_bytes;
    return kernel;
  }

 private:
  bool SplitsRows() const {
    return body_.GroupCount(0) <= kFewRows && phases_.phases.size() == 1 &&
           !phases_.phases[0].reductions.empty() && phases_.scratch_bytes == 0 &&
           RowLength(phases_.phases[0]) > kChunk;
  }
  int64_t RowLength(const RowPhase& phase) const { return body_.GroupCount(phase.group); }

  void EmitTwoStages(KernelCode& kernel);
  void EmitPhase(ExprEmitter& emitter, const RowPhase& phase);
  void EmitNestedPhase(ExprEmitter& emitter, const RowPhase& phase, size_t depth);
  Values EmitChunk(ExprEmitter& emitter, const RowPhase& phase, llvm::Value* begin,
                   llvm::Value* end);
  void EmitElements(ExprEmitter& emitter, const RowPhase& phase, Values& accumulators, int replica);
  void FinishReductions(ExprEmitter& emitter, const RowPhase& phase, const Values& values,
                        bool are_totals);
  void StoreRow(ExprEmitter& emitter);

  const LoopBody& body_;
  const RowPhases phases_;
  const int lanes_;
  llvm::Module& module_;
  const std::string& symbol_;
};

// One vector of a pass: reductions take it in, outputs and scratch copies are written.
void RowKernel::EmitElements(ExprEmitter& emitter, const RowPhase& phase, Values& accumulators,
                             int replica) {
  for (int store : phase.stores) emitter.Get(body_.stores[store].expr);
  for (size_t i = 0; i < phase.reductions.size(); ++i) {
    const Reduction& reduction = body_.reductions[phase.reductions[i]];
    llvm::Value*& accumulator = accumulators[i * kAccumulators + replica];
    accumulator = Accumulate(emitter, reduction, accumulator, emitter.Get(reduction.operand));
  }
  for (const ScratchCopy& copy : phase.writes) {
    emitter.WriteScratchCopy(copy.expr, copy.offset_bytes);
  }
  for (int store : phase.stores) emitter.StoreLanes(body_.stores[store]);
}

// One chunk [begin, end) of a flat row; returns each reduction's result over it, as a scalar.
Values RowKernel::EmitChunk(ExprEmitter& emitter, const RowPhase& phase, llvm::Value* begin,
                            llvm::Value* end) {
  Values accumulators;
  for (int reduction : phase.reductions) {
    llvm::Value* identity = Identity(emitter, body_.reductions[reduction]);
    accumulators.insert(accumulators.end(), kAccumulators, identity);
  }
  const int variable = body_.groups[phase.group].back();
  const int unroll = phase.reductions.empty() ? 1 : kAccumulators;
  accumulators = ForLanes(emitter, variable, begin, end, RowLength(phase), unroll, accumulators,
                          [&](int replica, Values& inside) {
                            emitter.SetScratchIndex(emitter.Variable(variable));
                            EmitElements(emitter, phase, inside, replica);
                          });
  Values results;
  for (size_t i = 0; i < phase.reductions.size(); ++i) {
    const Reduction& reduction = body_.reductions[phase.reductions[i]];
    llvm::Value** a = &accumulators[i * kAccumulators];
    llvm::Value* sum = Combine(emitter, reduction, Combine(emitter, reduction, a[0], a[1]),
                               Combine(emitter, reduction, a[2], a[3]));
    results.push_back(FoldLanes(emitter, reduction, sum));
  }
  return results;
}

void RowKernel::FinishReductions(ExprEmitter& emitter, const RowPhase& phase, const Values& values,
                                 bool are_totals) {
  for (size_t i = 0; i < phase.reductions.size(); ++i) {
    const Reduction& reduction = body_.reductions[phase.reductions[i]];
    llvm::Value* value = are_totals ? FromTotal(emitter, reduction, values[i]) : values[i];
    emitter.SetReduction(phase.reductions[i], ResultVector(emitter, reduction, value));
  }
}

// A pass over a row that several loops make up; it reduces nothing.
void RowKernel::EmitNestedPhase(ExprEmitter& emitter, const RowPhase& phase, size_t depth) {
  const std::vector<int>& variables = body_.groups[phase.group];
  const int variable = variables[depth];
  llvm::Value* zero = emitter.Int(0);
  llvm::Value* extent = emitter.Int(body_.extents[variable]);
  if (depth + 1 < variables.size()) {
    emitter.For(zero, extent, 1, {}, [&](llvm::Value* index, const Values&) -> Values {
      emitter.SetVariable(variable, index);
      EmitNestedPhase(emitter, phase, depth + 1);
      return {};
    });
    return;
  }
  ForLanes(emitter, variable, zero, extent, body_.extents[variable], 1, {},
           [&](int replica, Values& none) {
             emitter.SetScratchIndex(emitter.Offset(body_.GroupLinear(phase.group)));
             EmitElements(emitter, phase, none, replica);
           });
}

void RowKernel::EmitPhase(ExprEmitter& emitter, const RowPhase& phase) {
  const int64_t length = RowLength(phase);
  if (body_.groups[phase.group].size() > 1 && !phase.reads_flat) {
    EmitNestedPhase(emitter, phase, 0);
  } else if (phase.reductions.empty() || length <= kChunk) {
    FinishReductions(emitter, phase, EmitChunk(emitter, phase, emitter.Int(0), emitter.Int(length)),
                     false);
  } else {
    Values totals;
    for (int reduction : phase.reductions) {
      totals.push_back(InitialTotal(emitter, body_.reductions[reduction], /*is_vector=*/false));
    }
    const auto chunk = [&](llvm::Value* begin, Values inside) {
      llvm::Value* end =
          emitter.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, emitter.Int(length),
                                             emitter.ir().CreateAdd(begin, emitter.Int(kChunk)));
      const Values parts = EmitChunk(emitter, phase, begin, end);
      for (size_t i = 0; i < parts.size(); ++i) {
        inside[i] = AddToTotal(emitter, body_.reductions[phase.reductions[i]], inside[i], parts[i]);
      }
      return inside;
    };
    totals = emitter.For(emitter.Int(0), emitter.Int(length), kChunk, totals, chunk);
    FinishReductions(emitter, phase, totals, true);
  }
  for (const ScratchCopy& copy : phase.writes) {
    emitter.SetScratchCopy(copy.expr, copy.offset_bytes);
  }
}

void RowKernel::StoreRow(ExprEmitter& emitter) {
  for (int store : phases_.row_stores) emitter.Get(body_.stores[store].expr);
  for (int store : phases_.row_stores) emitter.StoreLaneZero(body_.stores[store]);
}

void RowKernel::EmitTwoStages(KernelCode& kernel) {
  const RowPhase& phase = phases_.phases[0];
  const int64_t rows = body_.GroupCount(0);
  const int64_t length = RowLength(phase);
  const int64_t chunks = CeilDiv(length, kChunk);
  const int64_t reductions = static_cast<int64_t>(phase.reductions.size());

  // Partial results lie as [row, chunk, reduction].
  ExprEmitter first(body_, lanes_, module_, symbol_);
  llvm::IRBuilder<>& ir = first.ir();
  const auto chunk = [&](llvm::Value* index, const Values&) -> Values {
    first.SetVariablesFrom(ir.CreateUDiv(index, first.Int(chunks)), body_.groups[0]);
    llvm::Value* begin = ir.CreateMul(ir.CreateURem(index, first.Int(chunks)), first.Int(kChunk));
    llvm::Value* end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first.Int(length),
                                                ir.CreateAdd(begin, first.Int(kChunk)));
    const Values parts = EmitChunk(first, phase, begin, end);
    llvm::Value* slot = ir.CreateMul(index, first.Int(reductions * kPartialBytes));
    for (int64_t i = 0; i < reductions; ++i) {
      ir.CreateStore(parts[i],
                     first.SharedScratch(ir.CreateAdd(slot, first.Int(i * kPartialBytes))));
    }
    return {};
  };
  first.For(first.begin_unit(), first.end_unit(), 1, {}, chunk);
  first.Finish();

  ExprEmitter second(body_, lanes_, module_, symbol_ + "_total");
  const auto row = [&](llvm::Value* index, const Values&) -> Values {
    second.SetVariablesFrom(index, body_.groups[0]);
    Values totals;
    for (int reduction : phase.reductions) {
      totals.push_back(InitialTotal(second, body_.reductions[reduction], /*is_vector=*/false));
    }
    llvm::Value* first_slot = second.ir().CreateMul(index, second.Int(chunks));
    const auto add = [&](llvm::Value* position, Values inside) {
      llvm::Value* slot = second.ir().CreateMul(second.ir().CreateAdd(first_slot, position),
                                                second.Int(reductions * kPartialBytes));
      for (int64_t i = 0; i < reductions; ++i) {
        const Reduction& reduction = body_.reductions[phase.reductions[i]];
        llvm::Value* address =
            second.SharedScratch(second.ir().CreateAdd(slot, second.Int(i * kPartialBytes)));
        llvm::Value* part =
            second.ir().CreateLoad(second.vectors().LaneType(reduction.dtype), address);
        inside[i] = AddToTotal(second, reduction, inside[i], part);
      }
      return inside;
    };
    totals = second.For(second.Int(0), second.Int(chunks), 1, totals, add);
    FinishReductions(second, phase, totals, true);
    StoreRow(second);
    return {};
  };
  second.For(second.begin_unit(), second.end_unit(), 1, {}, row);
  second.Finish();

  const int64_t units = rows * chunks;
  kernel.stages.push_back({symbol_, units, GrainFor(kernel.cost, units, lanes_)});
  kernel.stages.push_back({symbol_ + "_total", rows, rows});
  kernel.shared_scratch_bytes = units * reductions * kPartialBytes;
}

}  // namespace

KernelCode EmitRowKernel(const LoopBody& body, int lanes, llvm::Module& module,
                         const std::string& symbol) {
  return RowKernel(body, lanes, module, symbol).Emit();
}

}  // namespace trencadis::codegen
