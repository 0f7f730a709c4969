#include <algorithm>

#include "runtime/codegen/lane_loops.h"
#include "runtime/codegen/loop_kernels.h"

namespace trencadis::codegen {
namespace {

// Part of a reduction's order: each chunk of this many folded elements is added up in order in its
// lane, then the chunks are. The same whatever the columns' number and split.
constexpr int64_t kFoldChunk = 64;
constexpr int kRowsAtOnce = 4;   // per pass over the accumulators
constexpr int64_t kTile = 2048;  // columns whose accumulators stay in the innermost cache
constexpr int64_t kAlignment = 64;

int64_t Align(int64_t bytes) { return CeilDiv(bytes, kAlignment) * kAlignment; }

class ColumnKernel {
 public:
  ColumnKernel(const LoopBody& body, int lanes, llvm::Module& module, const std::string& symbol)
      : body_(body),
        lanes_(lanes),
        module_(module),
        symbol_(symbol),
        outer_(body.groups[0]),
        variable_(outer_.back()),
        extent_(body.extents[variable_]),
        tiles_(CeilDiv(extent_, kTile)),
        folded_(body.GroupCount(1)),
        chunks_(std::max<int64_t>(1, CeilDiv(folded_, kFoldChunk))),
        outer_count_(body.GroupCount(0) / extent_) {
    outer_.pop_back();
    for (const Reduction& reduction : body.reductions) {
      const int64_t element = ElementBytes(reduction);
      accumulators_.push_back(scratch_bytes_);
      scratch_bytes_ += Align((std::min(kTile, extent_) + lanes_) * element);
      partials_.push_back(shared_bytes_);
      shared_bytes_ += Align(outer_count_ * chunks_ * extent_ * element);
    }
  }

  KernelCode Emit() {
    KernelCode kernel;
    kernel.cost = CostOf(body_);
    kernel.scratch_bytes_per_thread = scratch_bytes_;
    EmitFolding();
    const int64_t units = outer_count_ * chunks_ * tiles_;
    kernel.stages.push_back({symbol_, units, GrainFor(kernel.cost, units, lanes_)});
    if (chunks_ == 1) return kernel;
    EmitTotals();
    const int64_t tiles = outer_count_ * tiles_;
    KernelCost cost = kernel.cost;
    cost.bytes /= kFoldChunk;
    cost.flops /= kFoldChunk;
    kernel.stages.push_back({symbol_ + "_total", tiles, GrainFor(cost, tiles, lanes_)});
    kernel.shared_scratch_bytes = shared_bytes_;
    return kernel;
  }

 private:
  static int64_t ElementBytes(const Reduction& reduction) {
    return reduction.dtype == DType::kBF16 ? ByteSize(DType::kF32) : ByteSize(reduction.dtype);
  }

  void EmitFolding();
  void EmitTotals();
  void ClearAccumulators(ExprEmitter& emitter);
  void FoldRows(ExprEmitter& emitter, llvm::Value* row, int rows, llvm::Value* begin,
                llvm::Value* end);
  void StoreResults(ExprEmitter& emitter, const Values& values);
  // Sets the unit's outer variables; returns its first column and the end of its columns.
  std::pair<llvm::Value*, llvm::Value*> TileOf(ExprEmitter& emitter, llvm::Value* tile);
  llvm::Value* AccumulatorAddress(ExprEmitter& emitter, size_t reduction, llvm::Value* begin);
  llvm::Value* PartialAddress(ExprEmitter& emitter, size_t reduction, llvm::Value* chunk);
  llvm::Type* LaneType(ExprEmitter& emitter, size_t reduction) {
    return emitter.vectors().LaneType(body_.reductions[reduction].dtype);
  }

  const LoopBody& body_;
  const int lanes_;
  llvm::Module& module_;
  const std::string& symbol_;
  std::vector<int> outer_;  // without the lane variable
  const int variable_;
  const int64_t extent_;
  const int64_t tiles_;
  const int64_t folded_;
  const int64_t chunks_;
  const int64_t outer_count_;
  std::vector<int64_t> accumulators_;  // offsets in scratch
  std::vector<int64_t> partials_;      // offsets in shared scratch, as [outer, chunk, column]
  int64_t scratch_bytes_ = 0;
  int64_t shared_bytes_ = 0;
};

std::pair<llvm::Value*, llvm::Value*> ColumnKernel::TileOf(ExprEmitter& emitter,
                                                           llvm::Value* tile) {
  llvm::IRBuilder<>& ir = emitter.ir();
  llvm::Value* begin = ir.CreateMul(tile, emitter.Int(kTile));
  llvm::Value* end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, emitter.Int(extent_),
                                              ir.CreateAdd(begin, emitter.Int(kTile)));
  return {begin, end};
}

llvm::Value* ColumnKernel::AccumulatorAddress(ExprEmitter& emitter, size_t reduction,
                                              llvm::Value* begin) {
  llvm::Value* column = emitter.ir().CreateSub(emitter.Variable(variable_), begin);
  return emitter.ir().CreateInBoundsGEP(
      LaneType(emitter, reduction), emitter.Scratch(emitter.Int(accumulators_[reduction])), column);
}

// `chunk` counts over [outer, chunk].
llvm::Value* ColumnKernel::PartialAddress(ExprEmitter& emitter, size_t reduction,
                                          llvm::Value* chunk) {
  llvm::IRBuilder<>& ir = emitter.ir();
  llvm::Value* position =
      ir.CreateAdd(ir.CreateMul(chunk, emitter.Int(extent_)), emitter.Variable(variable_));
  return ir.CreateInBoundsGEP(LaneType(emitter, reduction),
                              emitter.SharedScratch(emitter.Int(partials_[reduction])), position);
}

void ColumnKernel::ClearAccumulators(ExprEmitter& emitter) {
  llvm::IRBuilder<>& ir = emitter.ir();
  llvm::Value* end = emitter.Int(std::min(kTile, extent_));
  for (size_t i = 0; i < body_.reductions.size(); ++i) {
    llvm::Value* base = emitter.Scratch(emitter.Int(accumulators_[i]));
    emitter.For(emitter.Int(0), end, lanes_, {}, [&](llvm::Value* index, const Values&) -> Values {
      llvm::Type* lane = LaneType(emitter, i);
      emitter.StoreContiguous(ir.CreateInBoundsGEP(lane, base, index),
                              Identity(emitter, body_.reductions[i]), 1);
      return {};
    });
  }
}

// Adds `rows` successive elements from `row` on to the accumulators of columns [begin, end).
void ColumnKernel::FoldRows(ExprEmitter& emitter, llvm::Value* row, int rows, llvm::Value* begin,
                            llvm::Value* end) {
  const int row_level = emitter.level();
  for (int replica = 0; replica < rows; ++replica) {
    emitter.SelectReplica(row_level, replica);
    emitter.SetVariablesFrom(emitter.ir().CreateAdd(row, emitter.Int(replica)), body_.groups[1]);
  }
  ForLanes(emitter, variable_, begin, end, extent_, 1, {}, [&](int, Values&) {
    llvm::Value* column = emitter.Variable(variable_);
    for (size_t i = 0; i < body_.reductions.size(); ++i) {
      const Reduction& reduction = body_.reductions[i];
      llvm::Value* address = AccumulatorAddress(emitter, i, begin);
      const int64_t alignment = ElementBytes(reduction);
      llvm::Value* sum = emitter.LoadContiguous(address, LaneType(emitter, i), alignment);
      for (int replica = 0; replica < rows; ++replica) {
        emitter.SelectReplica(row_level, replica);
        emitter.SelectReplica(emitter.level(), replica);
        emitter.SetVariable(variable_, column);
        sum = Accumulate(emitter, reduction, sum, emitter.Get(reduction.operand));
      }
      emitter.SelectReplica(row_level, 0);
      emitter.SelectReplica(emitter.level(), 0);
      emitter.StoreContiguous(address, sum, alignment);
    }
  });
}

// At a level where the lane variable is set: `values` are the reductions' results for its lanes.
void ColumnKernel::StoreResults(ExprEmitter& emitter, const Values& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    emitter.SetReduction(static_cast<int>(i),
                         ResultVector(emitter, body_.reductions[i], values[i]));
  }
  for (const Store& store : body_.stores) emitter.Get(store.expr);
  for (const Store& store : body_.stores) emitter.StoreLanes(store);
}

void ColumnKernel::EmitFolding() {
  ExprEmitter emitter(body_, lanes_, module_, symbol_);
  llvm::IRBuilder<>& ir = emitter.ir();
  const auto unit = [&](llvm::Value* index, const Values&) -> Values {
    const auto [begin, end] = TileOf(emitter, ir.CreateURem(index, emitter.Int(tiles_)));
    llvm::Value* outer_chunk = ir.CreateUDiv(index, emitter.Int(tiles_));
    llvm::Value* chunk = ir.CreateURem(outer_chunk, emitter.Int(chunks_));
    emitter.SetVariablesFrom(ir.CreateUDiv(outer_chunk, emitter.Int(chunks_)), outer_);
    ClearAccumulators(emitter);

    llvm::Value* first_row = ir.CreateMul(chunk, emitter.Int(kFoldChunk));
    llvm::Value* last_row =
        ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, emitter.Int(folded_),
                                 ir.CreateAdd(first_row, emitter.Int(kFoldChunk)));
    llvm::Value* whole = ir.CreateSub(last_row, emitter.Int(kRowsAtOnce - 1));
    const auto fold = [&, begin = begin, end = end](int rows) {
      return [&, rows, begin, end](llvm::Value* row, const Values&) -> Values {
        FoldRows(emitter, row, rows, begin, end);
        return {};
      };
    };
    emitter.For(first_row, whole, kRowsAtOnce, {}, fold(kRowsAtOnce));
    llvm::Value* rest = ir.CreateURem(ir.CreateSub(last_row, first_row), emitter.Int(kRowsAtOnce));
    emitter.For(ir.CreateSub(last_row, rest), last_row, 1, {}, fold(1));

    ForLanes(emitter, variable_, begin, end, extent_, 1, {}, [&, begin = begin](int, Values&) {
      Values values;
      for (size_t i = 0; i < body_.reductions.size(); ++i) {
        values.push_back(emitter.LoadContiguous(AccumulatorAddress(emitter, i, begin),
                                                LaneType(emitter, i),
                                                ElementBytes(body_.reductions[i])));
      }
      if (chunks_ == 1) {
        StoreResults(emitter, values);
        return;
      }
      for (size_t i = 0; i < values.size(); ++i) {
        emitter.StoreContiguous(PartialAddress(emitter, i, outer_chunk), values[i],
                                ElementBytes(body_.reductions[i]));
      }
    });
    return {};
  };
  emitter.For(emitter.begin_unit(), emitter.end_unit(), 1, {}, unit);
  emitter.Finish();
}

void ColumnKernel::EmitTotals() {
  ExprEmitter emitter(body_, lanes_, module_, symbol_ + "_total");
  llvm::IRBuilder<>& ir = emitter.ir();
  const auto unit = [&](llvm::Value* index, const Values&) -> Values {
    const auto [begin, end] = TileOf(emitter, ir.CreateURem(index, emitter.Int(tiles_)));
    llvm::Value* outer = ir.CreateUDiv(index, emitter.Int(tiles_));
    emitter.SetVariablesFrom(outer, outer_);
    llvm::Value* first_chunk = ir.CreateMul(outer, emitter.Int(chunks_));
    ForLanes(emitter, variable_, begin, end, extent_, 1, {}, [&](int, Values&) {
      Values totals;
      for (const Reduction& reduction : body_.reductions) {
        totals.push_back(InitialTotal(emitter, reduction, /*is_vector=*/true));
      }
      const auto add = [&](llvm::Value* chunk, Values inside) {
        for (size_t i = 0; i < inside.size(); ++i) {
          llvm::Value* address = PartialAddress(emitter, i, ir.CreateAdd(first_chunk, chunk));
          llvm::Value* part = emitter.LoadContiguous(address, LaneType(emitter, i),
                                                     ElementBytes(body_.reductions[i]));
          inside[i] = AddToTotal(emitter, body_.reductions[i], inside[i], part);
        }
        return inside;
      };
      totals = emitter.For(emitter.Int(0), emitter.Int(chunks_), 1, totals, add);
      for (size_t i = 0; i < totals.size(); ++i) {
        totals[i] = FromTotal(emitter, body_.reductions[i], totals[i]);
      }
      StoreResults(emitter, totals);
    });
    return {};
  };
  emitter.For(emitter.begin_unit(), emitter.end_unit(), 1, {}, unit);
  emitter.Finish();
}

}  // namespace

KernelCode EmitColumnKernel(const LoopBody& body, int lanes, llvm::Module& module,
                            const std::string& symbol) {
  return ColumnKernel(body, lanes, module, symbol).Emit();
}

}  // namespace trencadis::codegen
