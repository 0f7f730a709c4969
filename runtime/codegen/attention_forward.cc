// Forward attention. One unit computes one task: its output and log-sum-exp.
#include <limits>

#include "runtime/codegen/attention_kernels.h"
#include "runtime/codegen/attention_plan.h"
#include "runtime/codegen/attention_tiles.h"
#include "runtime/codegen/tile_emitter.h"

namespace trencadis::codegen {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Forward {
 public:
  using Value = llvm::Value;
  using Values = TileEmitter::Values;

  Forward(TileEmitter& emitter, AttentionPlan& plan)
      : e_(emitter),
        plan_(plan),
        masks_(plan.spec.has_segments ? 3 : -1),
        offset_(plan.spec.has_offset ? 3 + (plan.spec.has_segments ? 2 : 0) : -1),
        out_(3 + (plan.spec.has_segments ? 2 : 0) + (plan.spec.has_offset ? 1 : 0)),
        tiles_(emitter, plan, masks_, offset_) {
    const int64_t row_bytes = plan.padded_rows * kWordBytes;
    queries_ = plan.Reserve(plan.depth * row_bytes);
    scores_ = plan.Reserve(kKeyTile * row_bytes);
    probabilities_ =
        plan.multiply == Multiply::kPairs ? plan.Reserve(kKeyTile / 2 * row_bytes) : scores_;
    sums_ = plan.Reserve(plan.padded_width * row_bytes);
    rescale_ = plan.Reserve(row_bytes);
    log_sums_ = plan.Reserve(row_bytes);
    key_copy_ = plan.Reserve(tiles_.KeyCopyBytes());
  }

  void Emit() {
    q_ = e_.Buffer(0);
    k_ = e_.Buffer(1);
    v_ = e_.Buffer(2);
    e_.For(e_.begin_unit(), e_.end_unit(), 1, [&](Value* unit) { EmitTask(unit); });
    e_.Finish();
  }

 private:
  AttentionTask TaskOf(Value* unit) {
    llvm::IRBuilder<>& ir = e_.ir();
    Value* tile = ir.CreateSRem(unit, e_.Int(plan_.query_tiles));
    Value* rest = ir.CreateSDiv(unit, e_.Int(plan_.query_tiles));
    // First and last tiles alternate: with a causal mask the last cost most, and this way every
    // range of units costs alike.
    Value* half = ir.CreateSDiv(tile, e_.Int(2));
    Value* odd = ir.CreateICmpNE(ir.CreateAnd(tile, e_.Int(1)), e_.Int(0));
    tile = ir.CreateSelect(odd, ir.CreateSub(e_.Int(plan_.query_tiles - 1), half), half);

    AttentionTask task;
    task.first_query = e_.Mul(tile, plan_.task_queries);
    Value* group = ir.CreateSRem(rest, e_.Int(plan_.head_groups));
    rest = ir.CreateSDiv(rest, e_.Int(plan_.head_groups));
    task.kv_head = ir.CreateSRem(rest, e_.Int(plan_.spec.kv_heads));
    task.batch = ir.CreateSDiv(rest, e_.Int(plan_.spec.kv_heads));
    task.first_head = ir.CreateAdd(e_.Mul(task.kv_head, plan_.spec.heads / plan_.spec.kv_heads),
                                   e_.Mul(group, plan_.task_heads));
    return task;
  }

  void EmitTask(Value* unit) {
    AttentionTask task = TaskOf(unit);
    tiles_.PrepareMasks(task);
    tiles_.PackTransposed(task, q_, e_.Scratch(queries_));
    e_.For(e_.Int(0), e_.Int(plan_.padded_width * plan_.row_vectors), 1, [&](Value* i) {
      e_.Store(e_.Splat(0.0f), e_.At(e_.Scratch(sums_), i, plan_.lanes * kWordBytes));
    });
    // Carried: the largest scaled score of each row so far, then the sums of exponentials.
    Values statistics(plan_.row_vectors, e_.Splat(-kInfinity));
    statistics.resize(2 * plan_.row_vectors, e_.Splat(0.0f));
    statistics = tiles_.ForSeenTiles(
        task, statistics, [&](const KeyTile& tile, Value* needs_mask, const Values& carried) {
          return EmitTile(task, tile, needs_mask, carried);
        });
    EmitResults(task, statistics);
  }

  Values EmitTile(const AttentionTask& task, const KeyTile& tile, Value* needs_mask,
                  const Values& carried) {
    Value* scores = e_.Scratch(scores_);
    tiles_.WidenKeys(task, k_, tile, e_.Scratch(key_copy_));
    TileProduct product;
    tiles_.SetKeyRows(product, task, k_, tile, e_.Scratch(key_copy_));
    product.y = e_.Scratch(queries_);
    product.c = scores;
    product.y_stride = product.c_stride = plan_.padded_rows;
    product.vectors = plan_.row_vectors;
    e_.Product(product);
    e_.If(needs_mask, [&] { tiles_.Mask(task, tile, scores); });

    const Values statistics = EmitSoftmax(tile, carried);

    tiles_.PairKeys(task, v_, tile, e_.Scratch(key_copy_));
    tiles_.SetKeyColumns(product, task, v_, tile, e_.Scratch(key_copy_));
    product.y = e_.Scratch(probabilities_);
    product.c = e_.Scratch(sums_);
    product.start = TileProduct::Start::kScaledC;
    product.scale = e_.Scratch(rescale_);
    e_.Product(product);
    return statistics;
  }

  Value* ScoreAddress(Value* key, int64_t vector) {
    Value* row = e_.At(e_.Scratch(scores_), key, plan_.padded_rows * kWordBytes);
    return e_.At(row, vector * plan_.lanes * kWordBytes);
  }

  // Scores to probabilities relative to the largest score so far; sets the factors that make the
  // sums of earlier tiles relative to it too (Dao et al. 2022, algorithm 1, lines 10 to 12).
  Values EmitSoftmax(const KeyTile& tile, const Values& carried) {
    llvm::IRBuilder<>& ir = e_.ir();
    const int64_t vectors = plan_.row_vectors;
    Value* scale = e_.Splat(static_cast<float>(plan_.spec.scale));
    Values largest(carried.begin(), carried.begin() + vectors);
    largest = e_.For(e_.Int(0), tile.count, 1, largest, [&](Value* key, const Values& so_far) {
      Values next;
      for (int64_t v = 0; v < vectors; ++v) {
        Value* score = ir.CreateFMul(e_.LoadFloats(ScoreAddress(key, v)), scale);
        next.push_back(e_.Largest(so_far[v], score));
      }
      return next;
    });
    Values shifts;  // minus the largest score, 0 where no key has been seen
    Values totals;
    for (int64_t v = 0; v < vectors; ++v) {
      Value* none = ir.CreateFCmpOEQ(largest[v], e_.Splat(-kInfinity));
      shifts.push_back(ir.CreateSelect(none, e_.Splat(0.0f), ir.CreateFNeg(largest[v])));
      Value* factor = e_.Exp(ir.CreateFAdd(carried[v], shifts[v]));
      e_.Store(factor, e_.Scratch(rescale_ + v * plan_.lanes * kWordBytes));
      totals.push_back(ir.CreateFMul(carried[vectors + v], factor));
    }
    totals = plan_.multiply == Multiply::kPairs ? EmitPairedExponentials(tile, shifts, totals)
                                                : EmitExponentials(tile, shifts, totals);
    Values statistics = largest;
    statistics.insert(statistics.end(), totals.begin(), totals.end());
    return statistics;
  }

  Value* Exponential(Value* key, int64_t vector, const Values& shifts) {
    Value* scale = e_.Splat(static_cast<float>(plan_.spec.scale));
    return e_.Exp(e_.MulAdd(e_.LoadFloats(ScoreAddress(key, vector)), scale, shifts[vector]));
  }

  Values EmitExponentials(const KeyTile& tile, const Values& shifts, const Values& totals) {
    return e_.For(e_.Int(0), tile.count, 1, totals, [&](Value* key, const Values& so_far) {
      Values next;
      for (int64_t v = 0; v < plan_.row_vectors; ++v) {
        Value* exponential = Exponential(key, v, shifts);
        e_.Store(exponential, ScoreAddress(key, v));
        next.push_back(e_.ir().CreateFAdd(so_far[v], exponential));
      }
      return next;
    });
  }

  Values EmitPairedExponentials(const KeyTile& tile, const Values& shifts, const Values& totals) {
    // An odd last key is paired with one that nobody sees.
    Value* odd = e_.ir().CreateICmpNE(e_.ir().CreateAnd(tile.count, e_.Int(1)), e_.Int(0));
    e_.If(odd, [&] {
      for (int64_t v = 0; v < plan_.row_vectors; ++v) {
        e_.Store(e_.Splat(-kInfinity), ScoreAddress(tile.count, v));
      }
    });
    return e_.For(e_.Int(0), tile.count, 2, totals, [&](Value* key, const Values& so_far) {
      Values next;
      Value* row = e_.At(e_.Scratch(probabilities_), key, plan_.padded_rows * kWordBytes / 2);
      for (int64_t v = 0; v < plan_.row_vectors; ++v) {
        Value* low = Exponential(key, v, shifts);
        Value* high = Exponential(e_.Add(key, 1), v, shifts);
        e_.Store(e_.PackPairs(low, high), e_.At(row, v * plan_.lanes * kWordBytes));
        next.push_back(e_.ir().CreateFAdd(so_far[v], e_.ir().CreateFAdd(low, high)));
      }
      return next;
    });
  }

  void EmitResults(const AttentionTask& task, const Values& statistics) {
    llvm::IRBuilder<>& ir = e_.ir();
    const int64_t vectors = plan_.row_vectors;
    const int64_t vector_bytes = plan_.lanes * kWordBytes;
    for (int64_t v = 0; v < vectors; ++v) {
      Value* total = statistics[vectors + v];
      Value* none = ir.CreateFCmpOEQ(total, e_.Splat(0.0f));
      Value* inverse = ir.CreateFDiv(e_.Splat(1.0f), total);
      e_.Store(ir.CreateSelect(none, e_.Splat(0.0f), inverse),
               e_.Scratch(rescale_ + v * vector_bytes));
      Value* log_sum = ir.CreateFAdd(statistics[v], e_.Log(total));
      e_.Store(ir.CreateSelect(none, e_.Splat(-kInfinity), log_sum),
               e_.Scratch(log_sums_ + v * vector_bytes));
    }
    tiles_.UnpackTransposed(task, e_.Scratch(sums_), e_.Scratch(rescale_), e_.Buffer(out_));
    Value* lse = e_.Buffer(out_ + 1);
    e_.For(e_.Int(0), e_.Int(plan_.rows), 1, [&](Value* row) {
      e_.If(tiles_.IsRow(task, row), [&] {
        Value* value =
            ir.CreateLoad(ir.getFloatTy(), e_.At(e_.Scratch(log_sums_), row, kWordBytes));
        e_.Store(value, e_.At(lse, tiles_.StatisticIndex(task, row), kWordBytes));
      });
    });
  }

  TileEmitter& e_;
  AttentionPlan& plan_;
  const int masks_, offset_, out_;  // buffers
  AttentionTiles tiles_;
  // Offsets in scratch. Tiles have rows along vectors.
  int64_t queries_;        // [depth, padded_rows]
  int64_t scores_;         // f32 [kKeyTile, padded_rows]
  int64_t probabilities_;  // as a product reads them: f32, in the scores' place, or pairs
  int64_t sums_;           // f32 [padded_width, padded_rows]: the output before division
  int64_t rescale_;        // f32 [padded_rows]
  int64_t log_sums_;       // f32 [padded_rows]
  int64_t key_copy_;
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
};

}  // namespace

KernelCode EmitAttentionForward(const AttentionSpec& spec, const Target& target,
                                llvm::Module& module, const std::string& symbol) {
  AttentionPlan plan(spec, target);
  TileEmitter emitter(module, symbol, target);
  Forward forward(emitter, plan);
  forward.Emit();
  KernelCode kernel;
  const int64_t units = spec.batch * spec.kv_heads * plan.head_groups * plan.query_tiles;
  kernel.stages = {{symbol, units, 1}};
  kernel.scratch_bytes_per_thread = plan.scratch_bytes;
  return kernel;
}

}  // namespace trencadis::codegen
