// AttentionTiles: the parts that the forward and the backward attention kernel share.
//
// Which rows a task has, its queries transposed, its masks, and key tiles as a product reads them.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ATTENTION_TILES_H_
#define TRENCADIS_RUNTIME_CODEGEN_ATTENTION_TILES_H_

#include "runtime/codegen/attention_plan.h"
#include "runtime/codegen/tile_emitter.h"

namespace trencadis::codegen {

// The task in hand, and the tensors that its masks read. Integers are i64.
struct AttentionTask {
  llvm::Value* batch = nullptr;
  llvm::Value* kv_head = nullptr;
  llvm::Value* first_head = nullptr;   // query head of row 0
  llvm::Value* first_query = nullptr;  // query of row 0
  llvm::Value* offset = nullptr;       // q_offset
  // Keys [keys_begin, keys_end) are all that any row may see by position.
  llvm::Value* keys_begin = nullptr;
  llvm::Value* keys_end = nullptr;
  // Smallest and largest segment of the rows.
  llvm::Value* least_segment = nullptr;
  llvm::Value* largest_segment = nullptr;
};

// Keys [first, first + count) of the task's key-value head.
struct KeyTile {
  llvm::Value* first = nullptr;
  llvm::Value* count = nullptr;
};

class AttentionTiles {
 public:
  using Value = llvm::Value;
  using Values = TileEmitter::Values;

  // Reserves scratch in `plan`. `segments` and `offset` number the launch's buffers; -1: none.
  AttentionTiles(TileEmitter& emitter, AttentionPlan& plan, int segments, int offset);

  // Sets the task's position masks and reads its segments; the first four fields must be set.
  void PrepareMasks(AttentionTask& task);

  // Row numbers to queries and heads; beyond the last row, those of the last.
  Value* QueryOf(const AttentionTask& task, Value* row);
  Value* HeadOf(const AttentionTask& task, Value* row);
  // Address of a row in a [B,T,H,D] tensor.
  Value* RowAddress(const AttentionTask& task, Value* tensor, Value* row);
  // i1: row numbers that stand for a query of their own.
  Value* IsRow(const AttentionTask& task, Value* row);
  // Address of key `key` in a [B,S,K,D] tensor.
  Value* KeyAddress(const AttentionTask& task, Value* tensor, Value* key);
  // Position of a row in a [B,H,T] tensor.
  Value* StatisticIndex(const AttentionTask& task, Value* row);

  // tensor [B,T,H,D] -> tile [depth, padded_rows] in scratch.
  void PackTransposed(const AttentionTask& task, Value* tensor, Value* tile);

  // tile f32 [D, padded_rows] in scratch, each row times scale f32 [padded_rows], -> the task's
  // rows of tensor [B,T,H,D], rounded to its dtype.
  void UnpackTransposed(const AttentionTask& task, Value* tile, Value* scale, Value* tensor);

  // A key tile as X of a product whose depth is D: rows are keys. Reads the tensor itself, or
  // `widened` (f32 [kKeyTile, D]), which WidenKeys filled.
  void SetKeyRows(TileProduct& product, const AttentionTask& task, Value* tensor,
                  const KeyTile& tile, Value* widened);
  // A key tile as X of a product whose depth is the keys: rows are D. Reads the tensor, or
  // `packed`, which WidenKeys or PairKeys filled.
  void SetKeyColumns(TileProduct& product, const AttentionTask& task, Value* tensor,
                     const KeyTile& tile, Value* packed);
  // Prepares `tile` of `tensor` in `packed` (4 * kKeyTile * D bytes) as the two functions above
  // want it; nothing where they read the tensor.
  void WidenKeys(const AttentionTask& task, Value* tensor, const KeyTile& tile, Value* packed);
  void PairKeys(const AttentionTask& task, Value* tensor, const KeyTile& tile, Value* packed);
  // Bytes of such a copy.
  int64_t KeyCopyBytes() const;

  // carried = body(tile, needs_mask, carried) for every tile of which some row may see a key;
  // needs_mask (i1) is false where all rows see all of it. Returns what is carried out.
  Values ForSeenTiles(
      const AttentionTask& task, const Values& initial,
      absl::FunctionRef<Values(const KeyTile& tile, Value* needs_mask, const Values& carried)>
          body);
  // Sets scores [kKeyTile, padded_rows] to -inf where a row does not see a key.
  void Mask(const AttentionTask& task, const KeyTile& tile, Value* scores);
  // i1 vector: which of lanes() keys from `key` on the row `row` sees, by all masks; only lanes of
  // `exists` are read and count.
  Value* SeenByRow(const AttentionTask& task, Value* row, Value* key, Value* exists);

 private:
  // i1 vectors: whether queries at `query` see keys at `position` (i32) by the masks of position.
  Value* SeenByPosition(Value* query, Value* position);
  // Address of the segment of a key of the task's batch.
  Value* KeySegment(const AttentionTask& task, Value* key);
  // i64 queries first and last of the task, as positions among the keys.
  Value* FirstPosition(const AttentionTask& task);
  Value* LastPosition(const AttentionTask& task);
  Value* NeedsPositionMask(const AttentionTask& task, const KeyTile& tile);

  TileEmitter& e_;
  const AttentionPlan& plan_;
  const int segments_;
  const int offset_;
  int64_t row_positions_ = 0;  // scratch: i32 [padded_rows], query + offset
  int64_t row_segments_ = 0;   // scratch: i32 [padded_rows]
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ATTENTION_TILES_H_
