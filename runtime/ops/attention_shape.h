// The operands and attributes of attention and attention_grad, read into one struct.
//
// B batch, T queries, S keys, H query heads, K key-value heads, D width of a head.
#ifndef TRENCADIS_RUNTIME_OPS_ATTENTION_SHAPE_H_
#define TRENCADIS_RUNTIME_OPS_ATTENTION_SHAPE_H_

#include <cstdint>

#include "runtime/core/shape.h"
#include "runtime/ir/attributes.h"

namespace trencadis::ops {

struct AttentionShape {
  int64_t batch = 0;     // B
  int64_t queries = 0;   // T
  int64_t keys = 0;      // S
  int64_t heads = 0;     // H
  int64_t kv_heads = 0;  // K, divides H
  int64_t width = 0;     // D
  double scale = 0;      // of q k^T
  bool causal = false;
  int64_t window = 0;  // 0: none
  bool has_segments = false;
  bool has_offset = false;

  // q [B,T,H,D], k [B,S,K,D].
  static AttentionShape Of(const TensorType& q, const TensorType& k,
                           const ir::Attributes& attributes) {
    return {.batch = q.shape.dim(0),
            .queries = q.shape.dim(1),
            .keys = k.shape.dim(1),
            .heads = q.shape.dim(2),
            .kv_heads = k.shape.dim(2),
            .width = q.shape.dim(3),
            .scale = attributes.Get<double>("scale"),
            .causal = attributes.Get<bool>("causal"),
            .window = attributes.GetOr<int64_t>("window", 0),
            .has_segments = attributes.GetOr<bool>("has_segments", false),
            .has_offset = attributes.GetOr<bool>("has_offset", false)};
  }

  TensorType LseType() const { return {DType::kF32, Shape{batch, heads, queries}}; }
};

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_ATTENTION_SHAPE_H_
