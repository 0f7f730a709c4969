// Backward attention. One unit computes one (batch, key-value head): dk and dv grow in scratch
// while its tasks pass, and each task's dq is finished at its end. No sum is shared between units.
#include <algorithm>
#include <limits>

#include "runtime/codegen/attention_kernels.h"
#include "runtime/codegen/attention_plan.h"
#include "runtime/codegen/attention_tiles.h"
#include "runtime/codegen/tile_emitter.h"

namespace trencadis::codegen {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Backward {
 public:
  using Value = llvm::Value;
  using Values = TileEmitter::Values;

  Backward(TileEmitter& emitter, AttentionPlan& plan, int64_t parts)
      : e_(emitter),
        plan_(plan),
        parts_(parts),
        key_sums_bytes_(plan.spec.keys * plan.padded_width * kWordBytes),
        pairs_(plan.multiply == Multiply::kPairs),
        segments_(plan.spec.has_segments ? 6 : -1),
        offset_(plan.spec.has_offset ? 6 + (plan.spec.has_segments ? 2 : 0) : -1),
        dq_(6 + (plan.spec.has_segments ? 2 : 0) + (plan.spec.has_offset ? 1 : 0)),
        tiles_(emitter, plan, segments_, offset_) {
    const int64_t row_bytes = plan.padded_rows * kWordBytes;
    const int64_t packed_rows = pairs_ ? plan.padded_rows / 2 : plan.padded_rows;
    for (int64_t* side : {&q_columns_, &dout_columns_})
      *side = plan.Reserve(plan.depth * row_bytes);
    for (int64_t* side : {&q_rows_, &dout_rows_}) {
      *side = plan.Reserve(packed_rows * plan.padded_width * kWordBytes);
    }
    for (int64_t* tile : {&scores_, &gradients_}) *tile = plan.Reserve(kKeyTile * row_bytes);
    if (pairs_) {
      for (int64_t* tile : {&paired_scores_, &paired_gradients_, &gradient_columns_}) {
        *tile = plan.Reserve(kKeyTile / 2 * row_bytes);
      }
    } else {
      paired_scores_ = scores_;
      paired_gradients_ = gradient_columns_ = gradients_;
    }
    dq_sums_ = plan.Reserve(plan.padded_width * row_bytes);
    for (int64_t* row : {&shifts_, &deltas_, &scales_}) *row = plan.Reserve(row_bytes);
    for (int64_t* copy : {&k_copy_, &v_copy_}) *copy = plan.Reserve(tiles_.KeyCopyBytes());
    if (parts == 1) key_sums_ = plan.Reserve(2 * key_sums_bytes_);
  }

  // Bytes of dk and dv of one unit in the shared scratch.
  int64_t UnitBytes() const { return parts_ == 1 ? 0 : 2 * key_sums_bytes_; }

  void Emit() {
    dout_ = e_.Buffer(0);
    q_ = e_.Buffer(1);
    k_ = e_.Buffer(2);
    v_ = e_.Buffer(3);
    out_ = e_.Buffer(4);
    lse_ = e_.Buffer(5);
    e_.For(e_.Int(0), e_.Int(plan_.row_vectors), 1, [&](Value* v) {
      e_.Store(e_.Splat(static_cast<float>(plan_.spec.scale)),
               e_.At(e_.Scratch(scales_), v, plan_.lanes * kWordBytes));
    });
    e_.For(e_.begin_unit(), e_.end_unit(), 1, [&](Value* unit) { EmitUnit(unit); });
    e_.Finish();
  }

  // The second stage; a unit is a key tile of a (batch, key-value head).
  void EmitCombination() {
    const int64_t tiles = KeyTiles();
    e_.For(e_.begin_unit(), e_.end_unit(), 1, [&](Value* unit) {
      Value* head = e_.ir().CreateSDiv(unit, e_.Int(tiles));
      Value* begin = e_.Mul(e_.ir().CreateSRem(unit, e_.Int(tiles)), kKeyTile);
      Value* end = e_.Min(e_.Add(begin, kKeyTile), e_.Int(plan_.spec.keys));
      StoreSums(TaskOf(head), UnitSums(e_.Mul(head, parts_)), begin, end);
    });
    e_.Finish();
  }

  int64_t KeyTiles() const { return (plan_.spec.keys + kKeyTile - 1) / kKeyTile; }

 private:
  AttentionTask TaskOf(Value* head) {
    AttentionTask task;
    task.kv_head = e_.ir().CreateSRem(head, e_.Int(plan_.spec.kv_heads));
    task.batch = e_.ir().CreateSDiv(head, e_.Int(plan_.spec.kv_heads));
    return task;
  }

  // Where a unit sums up dk; dv follows it.
  Value* UnitSums(Value* unit) {
    if (parts_ == 1) return e_.Scratch(key_sums_);
    return e_.At(e_.Buffer(dq_ + 3), unit, UnitBytes());
  }

  void EmitUnit(Value* unit) {
    llvm::IRBuilder<>& ir = e_.ir();
    AttentionTask task = TaskOf(ir.CreateSDiv(unit, e_.Int(parts_)));
    Value* first_head = e_.Mul(task.kv_head, plan_.spec.heads / plan_.spec.kv_heads);
    dk_sums_ = UnitSums(unit);
    dv_sums_ = e_.At(dk_sums_, key_sums_bytes_);
    FillZero(dk_sums_, 2 * plan_.spec.keys * plan_.padded_width);
    // Parts take turns, so that with a causal mask all cost alike.
    Value* part = ir.CreateSRem(unit, e_.Int(parts_));
    e_.For(part, e_.Int(plan_.head_groups * plan_.query_tiles), parts_, [&](Value* index) {
      Value* group = ir.CreateSDiv(index, e_.Int(plan_.query_tiles));
      Value* tile = ir.CreateSRem(index, e_.Int(plan_.query_tiles));
      task.first_head = ir.CreateAdd(first_head, e_.Mul(group, plan_.task_heads));
      task.first_query = e_.Mul(tile, plan_.task_queries);
      EmitTask(task);
    });
    if (parts_ == 1) StoreSums(task, dk_sums_, e_.Int(0), e_.Int(plan_.spec.keys));
  }

  // `elements`, a multiple of the lanes.
  void FillZero(Value* address, int64_t elements) {
    e_.For(e_.Int(0), e_.Int(elements), plan_.lanes,
           [&](Value* i) { e_.Store(e_.Splat(0.0f), e_.At(address, i, kWordBytes)); });
  }

  // Keys [begin, end) of dk and dv from the parts' sums, the first of which lie at `sums`.
  void StoreSums(const AttentionTask& task, Value* sums, Value* begin, Value* end) {
    StoreKeys(task, sums, static_cast<float>(plan_.spec.scale), e_.Buffer(dq_ + 1), begin, end);
    StoreKeys(task, e_.At(sums, key_sums_bytes_), 1.0f, e_.Buffer(dq_ + 2), begin, end);
  }

  // Sums f32 [S, padded_width], added up over parts, times `scale` -> the head's keys of tensor
  // [B,S,K,D].
  void StoreKeys(const AttentionTask& task, Value* sums, float scale, Value* tensor, Value* begin,
                 Value* end) {
    const DType dtype = plan_.spec.dtype;
    e_.For(begin, end, 1, [&](Value* key) {
      Value* from = e_.At(sums, key, plan_.padded_width * kWordBytes);
      Value* to = tiles_.KeyAddress(task, tensor, key);
      e_.ForPieces(plan_.spec.head_dim, [&](Value* start, int64_t count) {
        Value* address = e_.At(from, start, kWordBytes);
        Value* sum = e_.LoadFloats(address);
        for (int64_t part = 1; part < parts_; ++part) {
          sum = e_.ir().CreateFAdd(sum, e_.LoadFloats(e_.At(address, part * UnitBytes())));
        }
        e_.StoreElements(dtype, e_.ir().CreateFMul(sum, e_.Splat(scale)),
                         e_.At(to, start, ByteSize(dtype)), count);
      });
    });
  }

  void EmitTask(AttentionTask& task) {
    tiles_.PrepareMasks(task);
    tiles_.PackTransposed(task, q_, e_.Scratch(q_columns_));
    tiles_.PackTransposed(task, dout_, e_.Scratch(dout_columns_));
    PackRows(task, q_, q_rows_);
    PackRows(task, dout_, dout_rows_);
    EmitRowStatistics(task);
    FillZero(e_.Scratch(dq_sums_), plan_.padded_width * plan_.padded_rows);
    tiles_.ForSeenTiles(task, {}, [&](const KeyTile& tile, Value* needs_mask, const Values&) {
      EmitTile(task, tile, needs_mask);
      return Values{};
    });
    tiles_.UnpackTransposed(task, e_.Scratch(dq_sums_), e_.Scratch(scales_), e_.Buffer(dq_));
  }

  // The task's rows of tensor [B,T,H,D] as Y of a product whose depth is rows: f32
  // [padded_rows, padded_width], or pairs of rows.
  void PackRows(const AttentionTask& task, Value* tensor, int64_t to) {
    llvm::IRBuilder<>& ir = e_.ir();
    const DType dtype = plan_.spec.dtype;
    const int64_t step = pairs_ ? 2 : 1;
    e_.For(e_.Int(0), e_.Int(plan_.padded_rows), step, [&](Value* row) {
      Value* first = tiles_.RowAddress(task, tensor, row);
      Value* second = tiles_.RowAddress(task, tensor, e_.Add(row, 1));
      Value* packed = e_.At(e_.Scratch(to), row, plan_.padded_width * kWordBytes / step);
      e_.ForPieces(plan_.spec.head_dim, [&](Value* start, int64_t count) {
        Value* elements;
        if (pairs_) {
          Value* high = ir.CreateShl(e_.LoadBits(16, e_.At(second, start, 2), count), 16);
          elements = ir.CreateOr(e_.LoadBits(16, e_.At(first, start, 2), count), high);
        } else {
          elements = e_.LoadElements(dtype, e_.At(first, start, ByteSize(dtype)), count);
        }
        e_.Store(elements, e_.At(packed, start, kWordBytes));
      });
    });
  }

  // shifts = -lse, so that probabilities are exp(score + shift); rows that are none, or see no
  // key, get -inf and with it probabilities of 0. deltas = sum over d of dout * out (Dao et al.
  // 2022, algorithm 4, line 4).
  void EmitRowStatistics(const AttentionTask& task) {
    llvm::IRBuilder<>& ir = e_.ir();
    const DType dtype = plan_.spec.dtype;
    e_.For(e_.Int(0), e_.Int(plan_.padded_rows), 1, [&](Value* row) {
      Value* lse =
          ir.CreateLoad(ir.getFloatTy(), e_.At(lse_, tiles_.StatisticIndex(task, row), kWordBytes));
      Value* never = llvm::ConstantFP::get(ir.getFloatTy(), -kInfinity);
      Value* sees = ir.CreateAnd(tiles_.IsRow(task, row), ir.CreateFCmpUNE(lse, never));
      e_.Store(ir.CreateSelect(sees, ir.CreateFNeg(lse), never),
               e_.At(e_.Scratch(shifts_), row, kWordBytes));

      Value* dout = tiles_.RowAddress(task, dout_, row);
      Value* out = tiles_.RowAddress(task, out_, row);
      Value* delta = e_.Splat(0.0f);
      const int64_t width = plan_.spec.head_dim;
      for (int64_t start = 0; start < width; start += plan_.lanes) {
        const int64_t count = std::min<int64_t>(plan_.lanes, width - start);
        const int64_t offset = start * ByteSize(dtype);
        delta = e_.MulAdd(e_.LoadElements(dtype, e_.At(dout, offset), count),
                          e_.LoadElements(dtype, e_.At(out, offset), count), delta);
      }
      e_.Store(e_.SumLanes(delta), e_.At(e_.Scratch(deltas_), row, kWordBytes));
    });
  }

  void EmitTile(const AttentionTask& task, const KeyTile& tile, Value* needs_mask) {
    tiles_.WidenKeys(task, k_, tile, e_.Scratch(k_copy_));
    tiles_.WidenKeys(task, v_, tile, e_.Scratch(v_copy_));
    ScoresTile(task, tile, k_, k_copy_, q_columns_, scores_);
    ScoresTile(task, tile, v_, v_copy_, dout_columns_, gradients_);
    e_.If(needs_mask, [&] { tiles_.Mask(task, tile, e_.Scratch(scores_)); });
    if (pairs_) {
      EmitPairedGradients(tile);
      tiles_.PairKeys(task, k_, tile, e_.Scratch(k_copy_));
    } else {
      EmitGradients(tile);
    }
    KeyGradient(tile, paired_scores_, dout_rows_, dv_sums_);
    KeyGradient(tile, paired_gradients_, q_rows_, dk_sums_);

    TileProduct dq;
    tiles_.SetKeyColumns(dq, task, k_, tile, e_.Scratch(k_copy_));
    dq.y = e_.Scratch(gradient_columns_);
    dq.c = e_.Scratch(dq_sums_);
    dq.y_stride = dq.c_stride = plan_.padded_rows;
    dq.vectors = plan_.row_vectors;
    dq.start = TileProduct::Start::kC;
    e_.Product(dq);
  }

  // tile [keys, rows] = keys . columns
  void ScoresTile(const AttentionTask& task, const KeyTile& tile, Value* tensor, int64_t copy,
                  int64_t columns, int64_t to) {
    TileProduct product;
    tiles_.SetKeyRows(product, task, tensor, tile, e_.Scratch(copy));
    product.y = e_.Scratch(columns);
    product.c = e_.Scratch(to);
    product.y_stride = product.c_stride = plan_.padded_rows;
    product.vectors = plan_.row_vectors;
    e_.Product(product);
  }

  // sums [keys, D] += tile [keys, rows] . rows [rows, D]
  void KeyGradient(const KeyTile& tile, int64_t weights, int64_t rows, Value* sums) {
    const int64_t depth = pairs_ ? plan_.padded_rows / 2 : plan_.padded_rows;
    TileProduct product;
    product.multiply = plan_.multiply;
    product.x = e_.Scratch(weights);
    product.x_row_stride = depth;
    product.x_depth_stride = 1;
    product.rows = tile.count;
    product.depth = e_.Int(depth);
    product.y = e_.Scratch(rows);
    product.c = e_.At(sums, tile.first, plan_.padded_width * kWordBytes);
    product.y_stride = product.c_stride = plan_.padded_width;
    product.vectors = plan_.padded_width / plan_.lanes;
    product.start = TileProduct::Start::kC;
    e_.Product(product);
  }

  Value* TileAddress(int64_t tile, Value* key, int64_t vector) {
    Value* row = e_.At(e_.Scratch(tile), key, plan_.padded_rows * kWordBytes);
    return e_.At(row, vector * plan_.lanes * kWordBytes);
  }

  struct Gradient {
    Value* probability;
    Value* score;  // of the score, before scaling
  };

  // Dao et al. 2022, algorithm 4, lines 11 to 14.
  Gradient GradientAt(Value* key, int64_t vector) {
    llvm::IRBuilder<>& ir = e_.ir();
    const int64_t offset = vector * plan_.lanes * kWordBytes;
    Value* scale = e_.Splat(static_cast<float>(plan_.spec.scale));
    Value* shift = e_.LoadFloats(e_.Scratch(shifts_ + offset));
    Value* delta = e_.LoadFloats(e_.Scratch(deltas_ + offset));
    Value* probability =
        e_.Exp(e_.MulAdd(e_.LoadFloats(TileAddress(scores_, key, vector)), scale, shift));
    Value* difference = ir.CreateFSub(e_.LoadFloats(TileAddress(gradients_, key, vector)), delta);
    return {probability, ir.CreateFMul(probability, difference)};
  }

  void EmitGradients(const KeyTile& tile) {
    e_.For(e_.Int(0), tile.count, 1, [&](Value* key) {
      for (int64_t v = 0; v < plan_.row_vectors; ++v) {
        const Gradient gradient = GradientAt(key, v);
        e_.Store(gradient.probability, TileAddress(scores_, key, v));
        e_.Store(gradient.score, TileAddress(gradients_, key, v));
      }
    });
  }

  // Probabilities and gradients as bf16 rows, whose neighbours pair along the task's rows, and the
  // gradients also as pairs along the keys.
  void EmitPairedGradients(const KeyTile& tile) {
    // An odd last key is paired with one that nobody sees.
    Value* odd = e_.ir().CreateICmpNE(e_.ir().CreateAnd(tile.count, e_.Int(1)), e_.Int(0));
    e_.If(odd, [&] {
      for (int64_t v = 0; v < plan_.row_vectors; ++v) {
        e_.Store(e_.Splat(-kInfinity), TileAddress(scores_, tile.count, v));
        e_.Store(e_.Splat(0.0f), TileAddress(gradients_, tile.count, v));
      }
    });
    const int64_t half_row = plan_.padded_rows * kWordBytes / 2;
    const int64_t half_vector = plan_.lanes * kWordBytes / 2;
    e_.For(e_.Int(0), tile.count, 2, [&](Value* key) {
      for (int64_t v = 0; v < plan_.row_vectors; ++v) {
        const Gradient low = GradientAt(key, v);
        const Gradient high = GradientAt(e_.Add(key, 1), v);
        const auto store = [&](Value* value, int64_t tile_offset, Value* row) {
          e_.Store(e_.NarrowToBF16(value),
                   e_.At(e_.At(e_.Scratch(tile_offset), row, half_row), v * half_vector));
        };
        store(low.probability, paired_scores_, key);
        store(high.probability, paired_scores_, e_.Add(key, 1));
        store(low.score, paired_gradients_, key);
        store(high.score, paired_gradients_, e_.Add(key, 1));
        Value* pair_row = e_.At(e_.Scratch(gradient_columns_), key, half_row);
        e_.Store(e_.PackPairs(low.score, high.score), e_.At(pair_row, 2 * v * half_vector));
      }
    });
  }

  TileEmitter& e_;
  AttentionPlan& plan_;
  const int64_t parts_;
  const int64_t key_sums_bytes_;  // f32 [S, padded_width]
  const bool pairs_;
  const int segments_, offset_, dq_;  // buffers
  AttentionTiles tiles_;
  // Offsets in scratch.
  int64_t q_columns_, dout_columns_;  // [depth, padded_rows]
  int64_t q_rows_, dout_rows_;        // see PackRows
  int64_t scores_, gradients_;        // f32 [kKeyTile, padded_rows]
  // bf16 [kKeyTile, padded_rows], or the f32 tiles themselves: X of products over rows.
  int64_t paired_scores_, paired_gradients_;
  int64_t gradient_columns_;          // gradients as Y of a product over keys
  int64_t dq_sums_;                   // f32 [padded_width, padded_rows]
  int64_t shifts_, deltas_, scales_;  // f32 [padded_rows]
  int64_t k_copy_, v_copy_;
  int64_t key_sums_ = 0;  // dk and dv of the unit, when it is alone with its head
  Value *dout_ = nullptr, *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *out_ = nullptr;
  Value* lse_ = nullptr;
  // Of the unit in hand: f32 [S, padded_width].
  Value *dk_sums_ = nullptr, *dv_sums_ = nullptr;
};

}  // namespace

KernelCode EmitAttentionBackward(const AttentionSpec& spec, const Target& target,
                                 llvm::Module& module, const std::string& symbol) {
  const int64_t heads = spec.batch * spec.kv_heads;
  KernelCode kernel;
  AttentionPlan plan(spec, target);
  const int64_t parts = plan.PartsOf(plan.head_groups * plan.query_tiles);
  TileEmitter emitter(module, symbol, target);
  Backward backward(emitter, plan, parts);
  backward.Emit();
  kernel.stages = {{symbol, heads * parts, 1}};
  kernel.scratch_bytes_per_thread = plan.scratch_bytes;
  kernel.shared_scratch_bytes = heads * parts * backward.UnitBytes();
  if (parts == 1) return kernel;

  kernel.stages.push_back({symbol + "_combine", heads * backward.KeyTiles(), 1});
  AttentionPlan combine_plan(spec, target);
  TileEmitter combine_emitter(module, kernel.stages[1].symbol, target);
  Backward(combine_emitter, combine_plan, parts).EmitCombination();
  return kernel;
}

}  // namespace trencadis::codegen
