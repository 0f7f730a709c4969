#include "runtime/codegen/attention_plan.h"

#include <algorithm>

namespace trencadis::codegen {
namespace {

// The largest divisor of `value` that is at most `limit`.
int64_t LargestDivisor(int64_t value, int64_t limit) {
  int64_t divisor = std::min(value, limit);
  while (value % divisor != 0) --divisor;
  return divisor;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

AttentionPlan::AttentionPlan(const AttentionSpec& s, const Target& target)
    : spec(s), lanes(target.Lanes()) {
  const bool pairs = s.dtype == DType::kBF16 && target.HasFeature("avx512bf16") && lanes == 16 &&
                     s.head_dim % 2 == 0;
  multiply = pairs ? Multiply::kPairs : Multiply::kF32;
  widens = s.dtype == DType::kBF16 && !pairs;
  const int64_t shared_heads = s.heads / s.kv_heads;
  task_heads = LargestDivisor(shared_heads, kMostTaskRows);
  head_groups = shared_heads / task_heads;
  task_queries = std::max<int64_t>(1, std::min(s.queries, kMostTaskRows / task_heads));
  query_tiles = CeilDiv(s.queries, task_queries);
  rows = task_heads * task_queries;
  row_vectors = CeilDiv(rows, lanes);
  padded_rows = row_vectors * lanes;
  padded_width = CeilDiv(s.head_dim, lanes) * lanes;
  depth = pairs ? s.head_dim / 2 : s.head_dim;
}

int64_t AttentionPlan::PartsOf(int64_t most) const {
  const int64_t heads = std::max<int64_t>(1, spec.batch * spec.kv_heads);
  return std::max<int64_t>(1, std::min(most, CeilDiv(kEnoughUnits, heads)));
}

int64_t AttentionPlan::Reserve(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  const int64_t offset = scratch_bytes;
  scratch_bytes += CeilDiv(bytes, kAlignment) * kAlignment;
  return offset;
}

}  // namespace trencadis::codegen
