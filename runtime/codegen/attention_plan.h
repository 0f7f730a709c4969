// AttentionPlan: how an attention kernel cuts its work, and where its tiles lie in scratch.
//
// A *task* is a few consecutive queries of all (or some) query heads that share a key-value head;
// each (query, head) is a row, row r being query r / heads and head r % heads of the task. Tiles
// are kept transposed, rows along vectors: row statistics of the softmax are then plain vector
// arithmetic. Keys come in tiles of kKeyTile. Letters: attention.h. A plain value.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ATTENTION_PLAN_H_
#define TRENCADIS_RUNTIME_CODEGEN_ATTENTION_PLAN_H_

#include <cstdint>

#include "runtime/codegen/attention.h"
#include "runtime/codegen/tile_emitter.h"

namespace trencadis::codegen {

inline constexpr int64_t kKeyTile = 64;
// Bytes of an f32, an i32, a pair of bf16.
inline constexpr int64_t kWordBytes = 4;
// Where a batch has few key-value heads, their work is cut into parts until there are so many
// units.
inline constexpr int64_t kEnoughUnits = 8;
// Most rows of a task: three vectors of AVX-512, whose products with 8 keys fill 24 registers.
inline constexpr int64_t kMostTaskRows = 48;

struct AttentionPlan {
  AttentionPlan(const AttentionSpec& spec, const Target& target);

  // Parts of a key-value head's work, at most `most`, that make enough units; at least 1.
  int64_t PartsOf(int64_t most) const;
  // Adds room for `bytes` to the scratch; returns its offset.
  int64_t Reserve(int64_t bytes);

  AttentionSpec spec;
  int lanes;
  // bf16 tensors are multiplied as pairs; otherwise widened to f32 tile by tile.
  Multiply multiply;
  bool widens;           // bf16 without pairs
  int64_t task_heads;    // query heads of a task; divides H / K
  int64_t head_groups;   // (H / K) / task_heads
  int64_t task_queries;  // queries of a task; the last task of a row of tasks may have fewer
  int64_t query_tiles;   // ceil(T / task_queries)
  int64_t rows;          // task_heads * task_queries
  int64_t row_vectors;   // vectors that hold `rows`
  int64_t padded_rows;   // row_vectors * lanes
  int64_t padded_width;  // D rounded up to whole vectors
  // Elements of 4 bytes that make up a row of D in a transposed tile: D, or D / 2 pairs.
  int64_t depth;
  int64_t scratch_bytes = 0;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ATTENTION_PLAN_H_
