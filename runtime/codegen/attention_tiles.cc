#include "runtime/codegen/attention_tiles.h"

#include <limits>

namespace trencadis::codegen {

AttentionTiles::AttentionTiles(TileEmitter& emitter, AttentionPlan& plan, int segments, int offset)
    : e_(emitter), plan_(plan), segments_(segments), offset_(offset) {
  row_positions_ = plan.Reserve(plan.padded_rows * kWordBytes);
  row_segments_ = plan.Reserve(plan.padded_rows * kWordBytes);
}

llvm::Value* AttentionTiles::QueryOf(const AttentionTask& task, Value* row) {
  Value* query =
      e_.ir().CreateAdd(task.first_query, e_.ir().CreateSDiv(row, e_.Int(plan_.task_heads)));
  return e_.Min(query, e_.Int(plan_.spec.queries - 1));
}

llvm::Value* AttentionTiles::HeadOf(const AttentionTask& task, Value* row) {
  return e_.ir().CreateAdd(task.first_head, e_.ir().CreateSRem(row, e_.Int(plan_.task_heads)));
}

llvm::Value* AttentionTiles::RowAddress(const AttentionTask& task, Value* tensor, Value* row) {
  const AttentionSpec& s = plan_.spec;
  row = e_.Min(row, e_.Int(plan_.rows - 1));
  Value* token = e_.ir().CreateAdd(e_.Mul(task.batch, s.queries), QueryOf(task, row));
  Value* index = e_.ir().CreateAdd(e_.Mul(token, s.heads), HeadOf(task, row));
  return e_.At(tensor, index, s.head_dim * ByteSize(s.dtype));
}

llvm::Value* AttentionTiles::IsRow(const AttentionTask& task, Value* row) {
  llvm::IRBuilder<>& ir = e_.ir();
  Value* query = ir.CreateAdd(task.first_query, ir.CreateSDiv(row, e_.Int(plan_.task_heads)));
  return ir.CreateAnd(ir.CreateICmpSLT(row, e_.Int(plan_.rows)),
                      ir.CreateICmpSLT(query, e_.Int(plan_.spec.queries)));
}

llvm::Value* AttentionTiles::StatisticIndex(const AttentionTask& task, Value* row) {
  const AttentionSpec& s = plan_.spec;
  row = e_.Min(row, e_.Int(plan_.rows - 1));
  Value* head = e_.ir().CreateAdd(e_.Mul(task.batch, s.heads), HeadOf(task, row));
  return e_.ir().CreateAdd(e_.Mul(head, s.queries), QueryOf(task, row));
}

llvm::Value* AttentionTiles::KeyAddress(const AttentionTask& task, Value* tensor, Value* key) {
  const AttentionSpec& s = plan_.spec;
  Value* token = e_.ir().CreateAdd(e_.Mul(task.batch, s.keys), key);
  Value* index = e_.ir().CreateAdd(e_.Mul(token, s.kv_heads), task.kv_head);
  return e_.At(tensor, index, s.head_dim * ByteSize(s.dtype));
}

llvm::Value* AttentionTiles::FirstPosition(const AttentionTask& task) {
  return e_.ir().CreateAdd(task.first_query, task.offset);
}

llvm::Value* AttentionTiles::LastPosition(const AttentionTask& task) {
  Value* last =
      e_.Min(e_.Add(task.first_query, plan_.task_queries - 1), e_.Int(plan_.spec.queries - 1));
  return e_.ir().CreateAdd(last, task.offset);
}

void AttentionTiles::PrepareMasks(AttentionTask& task) {
  llvm::IRBuilder<>& ir = e_.ir();
  const AttentionSpec& s = plan_.spec;
  task.offset = e_.Int(0);
  if (offset_ >= 0) {
    task.offset =
        ir.CreateSExt(ir.CreateLoad(ir.getInt32Ty(), e_.Buffer(offset_)), ir.getInt64Ty());
  }
  const auto clamp = [&](Value* key) { return e_.Min(e_.Max(key, e_.Int(0)), e_.Int(s.keys)); };
  task.keys_begin = e_.Int(0);
  task.keys_end = e_.Int(s.keys);
  if (s.window > 0) task.keys_begin = clamp(e_.Add(FirstPosition(task), 1 - s.window));
  if (s.causal) task.keys_end = clamp(e_.Add(LastPosition(task), 1));

  Value* segments = segments_ >= 0 ? e_.Buffer(segments_) : nullptr;
  const Values extremes =
      e_.For(e_.Int(0), e_.Int(plan_.padded_rows), 1,
             {ir.getInt32(std::numeric_limits<int32_t>::max()),
              ir.getInt32(std::numeric_limits<int32_t>::min())},
             [&](Value* row, const Values& carried) {
               Value* query = QueryOf(task, e_.Min(row, e_.Int(plan_.rows - 1)));
               Value* position = ir.CreateTrunc(ir.CreateAdd(query, task.offset), ir.getInt32Ty());
               e_.Store(position, e_.At(e_.Scratch(row_positions_), row, kWordBytes));
               if (segments == nullptr) return carried;
               Value* index = ir.CreateAdd(e_.Mul(task.batch, s.queries), query);
               Value* segment = ir.CreateLoad(ir.getInt32Ty(), e_.At(segments, index, kWordBytes));
               e_.Store(segment, e_.At(e_.Scratch(row_segments_), row, kWordBytes));
               return Values{e_.Min(carried[0], segment), e_.Max(carried[1], segment)};
             });
  task.least_segment = extremes[0];
  task.largest_segment = extremes[1];
}

void AttentionTiles::PackTransposed(const AttentionTask& task, Value* tensor, Value* tile) {
  const bool pairs = plan_.multiply == Multiply::kPairs;
  const int64_t element_bytes = pairs ? kWordBytes : ByteSize(plan_.spec.dtype);
  e_.For(e_.Int(0), e_.Int(plan_.padded_rows), plan_.lanes, [&](Value* first_row) {
    Values addresses;
    for (int i = 0; i < plan_.lanes; ++i) {
      addresses.push_back(RowAddress(task, tensor, e_.Add(first_row, i)));
    }
    e_.ForPieces(plan_.depth, [&](Value* start, int64_t count) {
      Values square;
      for (Value* address : addresses) {
        Value* from = e_.At(address, start, element_bytes);
        square.push_back(pairs ? e_.LoadBits(32, from, count)
                               : e_.LoadElements(plan_.spec.dtype, from, count));
      }
      square = e_.Transpose(square);
      Value* to = e_.At(e_.At(tile, start, plan_.padded_rows * kWordBytes), first_row, kWordBytes);
      for (int64_t i = 0; i < count; ++i) {
        e_.Store(square[i], e_.At(to, i * plan_.padded_rows * kWordBytes));
      }
    });
  });
}

void AttentionTiles::UnpackTransposed(const AttentionTask& task, Value* tile, Value* scale,
                                      Value* tensor) {
  const int64_t row_bytes = plan_.padded_rows * kWordBytes;
  const DType dtype = plan_.spec.dtype;
  e_.For(e_.Int(0), e_.Int(plan_.padded_rows), plan_.lanes, [&](Value* first_row) {
    Value* factor = e_.LoadFloats(e_.At(scale, first_row, kWordBytes));
    e_.ForPieces(plan_.spec.head_dim, [&](Value* start, int64_t count) {
      Value* from = e_.At(e_.At(tile, start, row_bytes), first_row, kWordBytes);
      Values square;
      for (int64_t i = 0; i < plan_.lanes; ++i) {
        square.push_back(i < count
                             ? e_.ir().CreateFMul(e_.LoadFloats(e_.At(from, i * row_bytes)), factor)
                             : e_.Splat(0.0f));
      }
      square = e_.Transpose(square);
      for (int64_t i = 0; i < plan_.lanes; ++i) {
        Value* row = e_.Add(first_row, i);
        e_.If(IsRow(task, row), [&] {
          Value* to = e_.At(RowAddress(task, tensor, row), start, ByteSize(dtype));
          e_.StoreElements(dtype, square[i], to, count);
        });
      }
    });
  });
}

int64_t AttentionTiles::KeyCopyBytes() const { return kKeyTile * plan_.spec.head_dim * kWordBytes; }

void AttentionTiles::SetKeyRows(TileProduct& product, const AttentionTask& task, Value* tensor,
                                const KeyTile& tile, Value* widened) {
  const int64_t row_elements = plan_.spec.kv_heads * plan_.spec.head_dim;
  const bool pairs = plan_.multiply == Multiply::kPairs;
  product.multiply = plan_.multiply;
  product.x = plan_.widens ? widened : KeyAddress(task, tensor, tile.first);
  product.x_row_stride = plan_.widens ? plan_.spec.head_dim
                         : pairs      ? row_elements / 2
                                      : row_elements;
  product.x_depth_stride = 1;
  product.rows = tile.count;
  product.depth = e_.Int(plan_.depth);
}

void AttentionTiles::SetKeyColumns(TileProduct& product, const AttentionTask& task, Value* tensor,
                                   const KeyTile& tile, Value* packed) {
  const bool pairs = plan_.multiply == Multiply::kPairs;
  const bool copied = plan_.widens || pairs;
  const int64_t row_elements = plan_.spec.kv_heads * plan_.spec.head_dim;
  product.multiply = plan_.multiply;
  product.x = copied ? packed : KeyAddress(task, tensor, tile.first);
  product.x_row_stride = 1;
  product.x_depth_stride = copied ? plan_.spec.head_dim : row_elements;
  product.rows = e_.Int(plan_.spec.head_dim);
  product.depth = pairs ? e_.ir().CreateSDiv(e_.Add(tile.count, 1), e_.Int(2)) : tile.count;
}

void AttentionTiles::WidenKeys(const AttentionTask& task, Value* tensor, const KeyTile& tile,
                               Value* packed) {
  if (!plan_.widens) return;
  const int64_t width = plan_.spec.head_dim;
  e_.For(e_.Int(0), tile.count, 1, [&](Value* j) {
    Value* from = KeyAddress(task, tensor, e_.ir().CreateAdd(tile.first, j));
    Value* to = e_.At(packed, j, width * kWordBytes);
    e_.ForPieces(width, [&](Value* start, int64_t count) {
      Value* elements = e_.LoadElements(DType::kBF16, e_.At(from, start, 2), count);
      e_.StoreElements(DType::kF32, elements, e_.At(to, start, kWordBytes), count);
    });
  });
}

void AttentionTiles::PairKeys(const AttentionTask& task, Value* tensor, const KeyTile& tile,
                              Value* packed) {
  if (plan_.multiply != Multiply::kPairs) return WidenKeys(task, tensor, tile, packed);
  llvm::IRBuilder<>& ir = e_.ir();
  const int64_t width = plan_.spec.head_dim;
  e_.For(e_.Int(0), tile.count, 2, [&](Value* j) {
    // The last of an odd number of keys is paired with zeros; what lies behind it may be garbage.
    Value* has_second = ir.CreateICmpSLT(e_.Add(j, 1), tile.count);
    Value* second_key = ir.CreateAdd(tile.first, ir.CreateSelect(has_second, e_.Add(j, 1), j));
    Value* keep = e_.Splat(ir.CreateSExt(has_second, ir.getInt32Ty()));
    Value* low = KeyAddress(task, tensor, ir.CreateAdd(tile.first, j));
    Value* high = KeyAddress(task, tensor, second_key);
    Value* to = e_.At(packed, j, width * kWordBytes / 2);
    e_.ForPieces(width, [&](Value* start, int64_t count) {
      Value* first = e_.LoadBits(16, e_.At(low, start, 2), count);
      Value* second = ir.CreateAnd(e_.LoadBits(16, e_.At(high, start, 2), count), keep);
      Value* pairs =
          ir.CreateBitCast(ir.CreateOr(first, ir.CreateShl(second, 16)), e_.FloatVector());
      e_.StoreElements(DType::kF32, pairs, e_.At(to, start, kWordBytes), count);
    });
  });
}

llvm::Value* AttentionTiles::KeySegment(const AttentionTask& task, Value* key) {
  Value* index = e_.ir().CreateAdd(e_.Mul(task.batch, plan_.spec.keys), key);
  return e_.At(e_.Buffer(segments_ + 1), index, kWordBytes);
}

llvm::Value* AttentionTiles::NeedsPositionMask(const AttentionTask& task, const KeyTile& tile) {
  llvm::IRBuilder<>& ir = e_.ir();
  Value* needed = ir.getFalse();
  if (plan_.spec.causal) {
    Value* last_key = e_.Add(ir.CreateAdd(tile.first, tile.count), -1);
    needed = ir.CreateOr(needed, ir.CreateICmpSGT(last_key, FirstPosition(task)));
  }
  if (plan_.spec.window > 0) {
    Value* unseen = e_.Add(LastPosition(task), -plan_.spec.window);
    needed = ir.CreateOr(needed, ir.CreateICmpSLE(tile.first, unseen));
  }
  return needed;
}

TileEmitter::Values AttentionTiles::ForSeenTiles(
    const AttentionTask& task, const Values& initial,
    absl::FunctionRef<Values(const KeyTile&, Value*, const Values&)> body) {
  llvm::IRBuilder<>& ir = e_.ir();
  return e_.For(
      task.keys_begin, task.keys_end, kKeyTile, initial, [&](Value* first, const Values& carried) {
        const KeyTile tile = {first, e_.Min(e_.Int(kKeyTile), ir.CreateSub(task.keys_end, first))};
        Value* needs_mask = NeedsPositionMask(task, tile);
        if (segments_ < 0) return body(tile, needs_mask, carried);
        const Values extremes =
            e_.For(e_.Int(0), tile.count, 1,
                   {ir.getInt32(std::numeric_limits<int32_t>::max()),
                    ir.getInt32(std::numeric_limits<int32_t>::min())},
                   [&](Value* j, const Values& so_far) {
                     Value* segment =
                         ir.CreateLoad(ir.getInt32Ty(), KeySegment(task, ir.CreateAdd(first, j)));
                     return Values{e_.Min(so_far[0], segment), e_.Max(so_far[1], segment)};
                   });
        Value* least = e_.Min(extremes[0], task.least_segment);
        Value* largest = e_.Max(extremes[1], task.largest_segment);
        needs_mask = ir.CreateOr(needs_mask, ir.CreateICmpNE(least, largest));
        Value* overlap = ir.CreateAnd(ir.CreateICmpSLE(extremes[0], task.largest_segment),
                                      ir.CreateICmpSLE(task.least_segment, extremes[1]));
        return e_.If(overlap, carried, [&] { return body(tile, needs_mask, carried); });
      });
}

llvm::Value* AttentionTiles::SeenByPosition(Value* query, Value* position) {
  llvm::IRBuilder<>& ir = e_.ir();
  const AttentionSpec& s = plan_.spec;
  Value* seen = llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(ir.getInt1Ty(), plan_.lanes));
  if (s.causal) seen = ir.CreateAnd(seen, ir.CreateICmpSLE(position, query));
  if (s.window > 0) {
    Value* window = e_.Splat(ir.getInt32(static_cast<int32_t>(s.window)));
    seen = ir.CreateAnd(seen, ir.CreateICmpSGT(position, ir.CreateSub(query, window)));
  }
  return seen;
}

void AttentionTiles::Mask(const AttentionTask& task, const KeyTile& tile, Value* scores) {
  llvm::IRBuilder<>& ir = e_.ir();
  const int64_t vector_bytes = plan_.lanes * kWordBytes;
  e_.For(e_.Int(0), tile.count, 1, [&](Value* j) {
    Value* key = ir.CreateAdd(tile.first, j);
    Value* position = e_.Splat(ir.CreateTrunc(key, ir.getInt32Ty()));
    Value* row = e_.At(scores, j, plan_.padded_rows * kWordBytes);
    for (int64_t v = 0; v < plan_.row_vectors; ++v) {
      Value* query = e_.LoadInts(e_.Scratch(row_positions_ + v * vector_bytes));
      Value* seen = SeenByPosition(query, position);
      if (segments_ >= 0) {
        Value* segment = e_.Splat(ir.CreateLoad(ir.getInt32Ty(), KeySegment(task, key)));
        Value* own = e_.LoadInts(e_.Scratch(row_segments_ + v * vector_bytes));
        seen = ir.CreateAnd(seen, ir.CreateICmpEQ(segment, own));
      }
      Value* address = e_.At(row, v * vector_bytes);
      Value* never = e_.Splat(-std::numeric_limits<float>::infinity());
      e_.Store(ir.CreateSelect(seen, e_.LoadFloats(address), never), address);
    }
  });
}

llvm::Value* AttentionTiles::SeenByRow(const AttentionTask& task, Value* row, Value* key,
                                       Value* exists) {
  llvm::IRBuilder<>& ir = e_.ir();
  const auto of_row = [&](int64_t offset) {
    return e_.Splat(ir.CreateLoad(ir.getInt32Ty(), e_.At(e_.Scratch(offset), row, kWordBytes)));
  };
  Value* lane_numbers = ir.CreateStepVector(e_.IntVector());
  Value* position = ir.CreateAdd(lane_numbers, e_.Splat(ir.CreateTrunc(key, ir.getInt32Ty())));
  Value* seen = SeenByPosition(of_row(row_positions_), position);
  if (segments_ < 0) return seen;
  Value* segments = e_.LoadInts(KeySegment(task, key), exists);
  return ir.CreateAnd(seen, ir.CreateICmpEQ(segments, of_row(row_segments_)));
}

}  // namespace trencadis::codegen
