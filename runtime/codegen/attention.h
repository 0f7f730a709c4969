// Attention: kernels of the ops `attention` and `attention_grad`, generated for one shape.
//
// Letters: B batch, T queries, S keys, H query heads, K key-value heads, D head width.
//
// Flash attention (Dao et al. 2022, algorithms 1 and 4): tiles of scores live in a thread's scratch
// and the softmax is updated online; no score matrix exists. Tiles that no query of a task may see
// are skipped, tiles that all may see are not masked. Query heads of one key-value head share a
// tile. Products accumulate in f32; with bf16 tensors their operands, probabilities included, are
// bf16 (in f32 arithmetic on a target without AVX512-BF16). Results are independent of how the
// units are split, hence of the number of threads.
//
// Pure functions; thread-safe.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ATTENTION_H_
#define TRENCADIS_RUNTIME_CODEGEN_ATTENTION_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/codegen/kernel.h"
#include "runtime/codegen/target.h"
#include "runtime/core/dtype.h"

namespace trencadis::codegen {

// Query t attends key s iff (!causal || s <= t + offset) && (!window || s > t + offset - window) &&
// (!has_segments || q_segments[b,t] == kv_segments[b,s]). A query without keys gets 0 and lse -inf.
struct AttentionSpec {
  bool backward = false;
  DType dtype = DType::kF32;  // of q, k, v, out and their gradients: f32 or bf16
  int64_t batch = 1, queries = 1, keys = 1;
  int64_t heads = 1, kv_heads = 1;  // heads % kv_heads == 0
  int64_t head_dim = 64;
  double scale = 1.0;
  bool causal = false;
  int64_t window = 0;  // 0: none
  bool has_segments = false;
  bool has_offset = false;

  bool operator==(const AttentionSpec&) const = default;
};

// Compiles `spec`. The kernel's buffers, dense:
//   forward   q [B,T,H,D], k, v [B,S,K,D], [q_segments i32 [B,T], kv_segments i32 [B,S]],
//             [q_offset i32 []]; out [B,T,H,D], lse f32 [B,H,T]
//   backward  dout, q, k, v, out, lse, [segments], [q_offset]; dq, dk, dv
// Stages are named from `symbol`, unique among kernels loaded together. The offset only moves the
// masks of causal and windowed attention; keys outside them are not read. Errors: InvalidArgument
// for a spec outside the comments above.
absl::StatusOr<KernelCode> CompileAttention(const AttentionSpec& spec, const Target& target,
                                            const std::string& symbol);

// Floating-point operations and bytes of the launch, counting the keys that masks by position leave
// (segments and offset are not known) and 2.5 forward products for the backward pass.
KernelCost AttentionCost(const AttentionSpec& spec);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ATTENTION_H_
