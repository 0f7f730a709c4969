// Forward attention for few queries, as in decoding, where reading keys and values is all the work.
//
// Vectors run along D, so that a key is read once and whole. The keys are split into parts of their
// own units, because a batch of one has few key-value heads: stage 1 leaves each part's largest
// score, sum of exponentials and weighted values in the shared scratch; stage 2 combines them in
// order (Dao et al. 2023, "Flash-Decoding").
#include <algorithm>
#include <limits>

#include "runtime/codegen/attention_kernels.h"
#include "runtime/codegen/attention_plan.h"
#include "runtime/codegen/attention_tiles.h"
#include "runtime/codegen/tile_emitter.h"

namespace trencadis::codegen {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Vectors that hold all rows: more would not stay in registers, and the general kernel serves.
constexpr int64_t kMostVectors = 32;
// No part has fewer keys than this.
constexpr int64_t kLeastKeysOfPart = 128;

class FewRows {
 public:
  using Value = llvm::Value;
  using Values = TileEmitter::Values;

  FewRows(TileEmitter& emitter, AttentionPlan& plan, int64_t parts)
      : e_(emitter),
        plan_(plan),
        parts_(parts),
        width_vectors_(plan.padded_width / plan.lanes),
        segments_(plan.spec.has_segments ? 3 : -1),
        offset_(plan.spec.has_offset ? 3 + (plan.spec.has_segments ? 2 : 0) : -1),
        out_(3 + (plan.spec.has_segments ? 2 : 0) + (plan.spec.has_offset ? 1 : 0)),
        tiles_(emitter, plan, segments_, offset_) {
    queries_ = plan.Reserve(plan.rows * plan.padded_width * kWordBytes);
    scores_ = plan.Reserve(plan.rows * kKeyTile * kWordBytes);
  }

  // f32 per unit of stage 1 in the shared scratch: for each row a vector of largest scores (all
  // lanes equal), one of partial sums, and the weighted values.
  static int64_t PartElements(const AttentionPlan& plan) {
    return plan.rows * (2 * plan.lanes + plan.padded_width);
  }

  void EmitParts() {
    e_.For(e_.begin_unit(), e_.end_unit(), 1, [&](Value* unit) { EmitPart(unit); });
    e_.Finish();
  }

  void EmitCombination() {
    e_.For(e_.begin_unit(), e_.end_unit(), 1, [&](Value* unit) { Combine(unit); });
    e_.Finish();
  }

 private:
  AttentionTask TaskOf(Value* index) {
    llvm::IRBuilder<>& ir = e_.ir();
    AttentionTask task;
    task.kv_head = ir.CreateSRem(index, e_.Int(plan_.spec.kv_heads));
    task.batch = ir.CreateSDiv(index, e_.Int(plan_.spec.kv_heads));
    task.first_head = e_.Mul(task.kv_head, plan_.task_heads);
    task.first_query = e_.Int(0);
    return task;
  }

  Value* PartAddress(Value* unit, int64_t row) {
    Value* part = e_.At(e_.Buffer(out_ + 2), unit, PartElements(plan_) * kWordBytes);
    return e_.At(part, row * (2 * plan_.lanes + plan_.padded_width) * kWordBytes);
  }

  void EmitPart(Value* unit) {
    llvm::IRBuilder<>& ir = e_.ir();
    AttentionTask task = TaskOf(ir.CreateSDiv(unit, e_.Int(parts_)));
    tiles_.PrepareMasks(task);
    TakePart(task, ir.CreateSRem(unit, e_.Int(parts_)));
    PackQueries(task);
    // Carried, for each row: largest score, partial sums, weighted values.
    Values state(plan_.rows, e_.Splat(-kInfinity));
    state.resize(plan_.rows * (2 + width_vectors_), e_.Splat(0.0f));
    state = e_.For(task.keys_begin, task.keys_end, kKeyTile, state,
                   [&](Value* first, const Values& carried) {
                     Value* left = ir.CreateSub(task.keys_end, first);
                     return EmitTile(task, {first, e_.Min(e_.Int(kKeyTile), left)}, carried);
                   });
    const int64_t vector_bytes = plan_.lanes * kWordBytes;
    for (int64_t row = 0; row < plan_.rows; ++row) {
      Value* to = PartAddress(unit, row);
      e_.Store(state[row], to);
      e_.Store(state[plan_.rows + row], e_.At(to, vector_bytes));
      for (int64_t v = 0; v < width_vectors_; ++v) {
        e_.Store(state[ValueIndex(row, v)], e_.At(to, (2 + v) * vector_bytes));
      }
    }
  }

  int64_t ValueIndex(int64_t row, int64_t vector) const {
    return 2 * plan_.rows + row * width_vectors_ + vector;
  }

  // Narrows the task's keys to those of part number `part`.
  void TakePart(AttentionTask& task, Value* part) {
    llvm::IRBuilder<>& ir = e_.ir();
    Value* keys = ir.CreateSub(task.keys_end, task.keys_begin);
    Value* share = ir.CreateSDiv(e_.Add(keys, parts_ - 1), e_.Int(parts_));
    Value* begin = ir.CreateAdd(task.keys_begin, ir.CreateMul(part, share));
    task.keys_end = e_.Min(task.keys_end, ir.CreateAdd(begin, share));
    task.keys_begin = begin;
  }

  // The rows, scaled, in f32.
  void PackQueries(const AttentionTask& task) {
    const DType dtype = plan_.spec.dtype;
    Value* q = e_.Buffer(0);
    e_.For(e_.Int(0), e_.Int(plan_.rows), 1, [&](Value* row) {
      Value* from = tiles_.RowAddress(task, q, row);
      Value* to = e_.At(e_.Scratch(queries_), row, plan_.padded_width * kWordBytes);
      e_.ForPieces(plan_.spec.head_dim, [&](Value* start, int64_t count) {
        Value* elements = e_.LoadElements(dtype, e_.At(from, start, ByteSize(dtype)), count);
        Value* scale = e_.Splat(static_cast<float>(plan_.spec.scale));
        e_.Store(e_.ir().CreateFMul(elements, scale), e_.At(to, start, kWordBytes));
      });
    });
  }

  // Vector `vector` of a key's or value's row.
  Value* LoadRow(Value* address, int64_t vector) {
    const int64_t start = vector * plan_.lanes;
    const int64_t count = std::min<int64_t>(plan_.lanes, plan_.spec.head_dim - start);
    return e_.LoadElements(plan_.spec.dtype, e_.At(address, start * ByteSize(plan_.spec.dtype)),
                           count);
  }

  // Asks for a key's or value's row: the hardware does not foresee rows that lie K * D apart.
  void PrefetchRow(Value* address) {
    constexpr int64_t kLineBytes = 64;
    const int64_t bytes = plan_.spec.head_dim * ByteSize(plan_.spec.dtype);
    for (int64_t offset = 0; offset < bytes; offset += kLineBytes) {
      e_.Prefetch(e_.At(address, offset));
    }
  }

  Value* ScoreAddress(int64_t row, Value* key) {
    return e_.At(e_.Scratch(scores_ + row * kKeyTile * kWordBytes), key, kWordBytes);
  }

  Values EmitTile(const AttentionTask& task, const KeyTile& tile, const Values& carried) {
    e_.For(e_.Int(0), tile.count, plan_.lanes,
           [&](Value* first) { EmitScores(task, tile, first); });
    Values state = carried;
    for (int64_t row = 0; row < plan_.rows; ++row) EmitSoftmax(tile, row, state);
    return EmitValues(task, tile, state);
  }

  // Scores of lanes() keys from `first` of the tile on: their products with each row are summed
  // across lanes together, so that a lane of the result is a key.
  void EmitScores(const AttentionTask& task, const KeyTile& tile, Value* first) {
    llvm::IRBuilder<>& ir = e_.ir();
    Value* k = e_.Buffer(1);
    Value* v = e_.Buffer(2);
    std::vector<Values> sums(plan_.rows, Values(plan_.lanes));
    for (int key = 0; key < plan_.lanes; ++key) {
      // Keys beyond the last stand for it, and are masked.
      Value* in_tile = e_.Min(e_.Add(first, key), e_.Add(tile.count, -1));
      Value* address = tiles_.KeyAddress(task, k, ir.CreateAdd(tile.first, in_tile));
      PrefetchRow(tiles_.KeyAddress(task, k, ir.CreateAdd(e_.Add(tile.first, kKeyTile), in_tile)));
      PrefetchRow(tiles_.KeyAddress(task, v, ir.CreateAdd(tile.first, in_tile)));
      for (int64_t i = 0; i < width_vectors_; ++i) {
        Value* part = LoadRow(address, i);
        for (int64_t row = 0; row < plan_.rows; ++row) {
          const int64_t offset = (row * plan_.padded_width + i * plan_.lanes) * kWordBytes;
          Value* query = e_.LoadFloats(e_.Scratch(queries_ + offset));
          Value*& sum = sums[row][key];
          sum = i == 0 ? ir.CreateFMul(query, part) : e_.MulAdd(query, part, sum);
        }
      }
    }
    Value* key = ir.CreateAdd(tile.first, first);
    Value* exists = e_.LanesBelow(ir.CreateSub(tile.count, first));
    for (int64_t row = 0; row < plan_.rows; ++row) {
      Value* seen = ir.CreateAnd(exists, tiles_.SeenByRow(task, e_.Int(row), key, exists));
      Value* scores = e_.SumEach(sums[row]);
      e_.Store(ir.CreateSelect(seen, scores, e_.Splat(-kInfinity)), ScoreAddress(row, first));
    }
  }

  // Turns a row's scores into exponentials relative to the largest so far, and makes what is
  // carried relative to it too.
  void EmitSoftmax(const KeyTile& tile, int64_t row, Values& state) {
    llvm::IRBuilder<>& ir = e_.ir();
    Value* tile_largest = e_.For(
        e_.Int(0), tile.count, plan_.lanes, {state[row]}, [&](Value* key, const Values& so_far) {
          return Values{e_.Largest(so_far[0], e_.LoadFloats(ScoreAddress(row, key)))};
        })[0];
    Value* largest = e_.LargestLane(tile_largest);
    Value* none = ir.CreateFCmpOEQ(largest, e_.Splat(-kInfinity));
    Value* shift = ir.CreateSelect(none, e_.Splat(0.0f), ir.CreateFNeg(largest));
    Value* factor = e_.Exp(ir.CreateFAdd(state[row], shift));
    state[row] = largest;
    Value*& total = state[plan_.rows + row];
    total = ir.CreateFMul(total, factor);
    for (int64_t v = 0; v < width_vectors_; ++v) {
      Value*& sum = state[ValueIndex(row, v)];
      sum = ir.CreateFMul(sum, factor);
    }
    total =
        e_.For(e_.Int(0), tile.count, plan_.lanes, {total}, [&](Value* key, const Values& so_far) {
          Value* score = e_.LoadFloats(ScoreAddress(row, key));
          Value* exponential = e_.Exp(ir.CreateFAdd(score, shift));
          e_.Store(exponential, ScoreAddress(row, key));
          return Values{ir.CreateFAdd(so_far[0], exponential)};
        })[0];
  }

  Values EmitValues(const AttentionTask& task, const KeyTile& tile, const Values& state) {
    Value* v = e_.Buffer(2);
    return e_.For(e_.Int(0), tile.count, 1, state, [&](Value* key, const Values& carried) {
      Values next = carried;
      Value* address = tiles_.KeyAddress(task, v, e_.ir().CreateAdd(tile.first, key));
      Values weights;
      for (int64_t row = 0; row < plan_.rows; ++row) {
        weights.push_back(
            e_.Splat(e_.ir().CreateLoad(e_.ir().getFloatTy(), ScoreAddress(row, key))));
      }
      for (int64_t i = 0; i < width_vectors_; ++i) {
        Value* part = LoadRow(address, i);
        for (int64_t row = 0; row < plan_.rows; ++row) {
          Value*& sum = next[ValueIndex(row, i)];
          sum = e_.MulAdd(weights[row], part, sum);
        }
      }
      return next;
    });
  }

  // One (batch, key-value head) from its parts.
  void Combine(Value* index) {
    const AttentionTask task = TaskOf(index);
    Value* first_part = e_.Mul(index, parts_);
    for (int64_t row = 0; row < plan_.rows; ++row) CombineRow(task, first_part, row);
  }

  void CombineRow(const AttentionTask& task, Value* first_part, int64_t row) {
    llvm::IRBuilder<>& ir = e_.ir();
    const DType dtype = plan_.spec.dtype;
    const int64_t vector_bytes = plan_.lanes * kWordBytes;
    const auto part = [&](int64_t i) { return PartAddress(e_.Add(first_part, i), row); };
    Value* largest = e_.LoadFloats(part(0));
    for (int64_t i = 1; i < parts_; ++i) largest = e_.Largest(largest, e_.LoadFloats(part(i)));
    Value* none = ir.CreateFCmpOEQ(largest, e_.Splat(-kInfinity));
    Value* shift = ir.CreateSelect(none, e_.Splat(0.0f), ir.CreateFNeg(largest));
    Values sums(1 + width_vectors_, e_.Splat(0.0f));
    for (int64_t i = 0; i < parts_; ++i) {
      Value* factor = e_.Exp(ir.CreateFAdd(e_.LoadFloats(part(i)), shift));
      for (int64_t v = 0; v <= width_vectors_; ++v) {
        Value* term = e_.LoadFloats(e_.At(part(i), (1 + v) * vector_bytes));
        sums[v] = e_.MulAdd(term, factor, sums[v]);
      }
    }
    Value* total = e_.Splat(e_.SumLanes(sums[0]));
    Value* inverse = ir.CreateSelect(none, e_.Splat(0.0f), ir.CreateFDiv(e_.Splat(1.0f), total));
    Value* to = tiles_.RowAddress(task, e_.Buffer(out_), e_.Int(row));
    for (int64_t v = 0; v < width_vectors_; ++v) {
      const int64_t start = v * plan_.lanes;
      const int64_t count = std::min<int64_t>(plan_.lanes, plan_.spec.head_dim - start);
      e_.StoreElements(dtype, ir.CreateFMul(sums[1 + v], inverse),
                       e_.At(to, start * ByteSize(dtype)), count);
    }
    Value* lse = ir.CreateSelect(none, e_.Splat(-kInfinity), ir.CreateFAdd(largest, e_.Log(total)));
    Value* index = tiles_.StatisticIndex(task, e_.Int(row));
    e_.Store(ir.CreateExtractElement(lse, uint64_t{0}),
             e_.At(e_.Buffer(out_ + 1), index, kWordBytes));
  }

  TileEmitter& e_;
  AttentionPlan& plan_;
  const int64_t parts_;
  const int64_t width_vectors_;
  const int segments_, offset_, out_;  // buffers
  AttentionTiles tiles_;
  int64_t queries_;  // scratch: f32 [rows, padded_width]
  int64_t scores_;   // scratch: f32 [rows, kKeyTile]
};

}  // namespace

bool HasFewRows(const AttentionSpec& spec, const Target& target) {
  const AttentionPlan plan(spec, target);
  return plan.head_groups == 1 && plan.query_tiles == 1 && plan.rows < plan.lanes &&
         plan.rows * (plan.padded_width / plan.lanes) <= kMostVectors;
}

KernelCode EmitAttentionFewRows(const AttentionSpec& spec, const Target& target,
                                llvm::Module& module, const std::string& symbol) {
  const int64_t heads = spec.batch * spec.kv_heads;
  const int64_t parts = AttentionPlan(spec, target).PartsOf(spec.keys / kLeastKeysOfPart);
  KernelCode kernel;
  kernel.stages = {{symbol, heads * parts, 1}, {symbol + "_combine", heads, kEnoughUnits}};
  for (const KernelStage& stage : kernel.stages) {
    AttentionPlan plan(spec, target);
    TileEmitter emitter(module, stage.symbol, target);
    FewRows few_rows(emitter, plan, parts);
    if (&stage == &kernel.stages[0]) {
      few_rows.EmitParts();
    } else {
      few_rows.EmitCombination();
    }
    kernel.scratch_bytes_per_thread = plan.scratch_bytes;
    kernel.shared_scratch_bytes = heads * parts * FewRows::PartElements(plan) * kWordBytes;
  }
  return kernel;
}

}  // namespace trencadis::codegen
