#include "runtime/codegen/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "runtime/base/status.h"
#include "runtime/codegen/attention_kernels.h"
#include "runtime/codegen/llvm_compiler.h"

namespace trencadis::codegen {
namespace {

absl::Status Check(const AttentionSpec& s) {
  const bool sizes = s.batch >= 0 && s.queries >= 0 && s.keys >= 0 && s.heads >= 0 &&
                     s.kv_heads > 0 && s.head_dim > 0 && s.heads % s.kv_heads == 0 &&
                     s.window >= 0 && s.window <= std::numeric_limits<int32_t>::max();
  if (sizes && IsFloat(s.dtype) && std::isfinite(s.scale) && s.scale > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "attention of ", DTypeName(s.dtype), " with batch ", s.batch, ", queries ", s.queries,
      ", keys ", s.keys, ", heads ", s.heads, " over ", s.kv_heads, ", width ", s.head_dim,
      ", scale ", s.scale, ", window ", s.window,
      ": wanted f32 or bf16, heads a multiple of key-value heads, a width and a scale above 0, and "
      "nothing negative"));
}

// Pairs of a query and a key that the masks by position leave, for offset 0.
double SeenPairs(const AttentionSpec& s) {
  double pairs = 0;
  for (int64_t t = 0; t < s.queries; ++t) {
    const int64_t end = s.causal ? std::min(t + 1, s.keys) : s.keys;
    const int64_t begin = s.window > 0 ? std::max<int64_t>(0, t + 1 - s.window) : 0;
    pairs += static_cast<double>(std::max<int64_t>(0, end - begin));
  }
  // With an offset the queries are the last ones: no key is hidden from most of them.
  if (s.has_offset && s.window == 0) pairs = static_cast<double>(s.queries) * s.keys;
  return pairs;
}

}  // namespace

KernelCost AttentionCost(const AttentionSpec& s) {
  const double products = s.backward ? 5 : 2;
  const double queries = static_cast<double>(s.batch * s.queries * s.heads * s.head_dim);
  const double keys = static_cast<double>(s.batch * s.keys * s.kv_heads * s.head_dim);
  KernelCost cost;
  cost.flops = products * 2.0 * s.batch * s.heads * s.head_dim * SeenPairs(s);
  // Forward q, out, k, v; backward also the gradient of each.
  cost.bytes = (s.backward ? 2 : 1) * (2 * queries + 2 * keys) * ByteSize(s.dtype);
  return cost;
}

absl::StatusOr<KernelCode> CompileAttention(const AttentionSpec& spec, const Target& target,
                                            const std::string& symbol) {
  TRENCADIS_RETURN_IF_ERROR(Check(spec));
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  const auto emit = spec.backward              ? EmitAttentionBackward
                    : HasFewRows(spec, target) ? EmitAttentionFewRows
                                               : EmitAttentionForward;
  KernelCode kernel = emit(spec, target, module, symbol);
  TRENCADIS_ASSIGN_OR_RETURN(kernel.object, CompileToObject(module, target));
  kernel.cost = AttentionCost(spec);
  return kernel;
}

}  // namespace trencadis::codegen
