// For tests: bodies as models have them. TYPE and N in their text stand for a dtype and a row's
// length.
#ifndef TRENCADIS_RUNTIME_CODEGEN_FUSION_BODIES_H_
#define TRENCADIS_RUNTIME_CODEGEN_FUSION_BODIES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace trencadis::codegen::testing {

using Replacements = std::vector<std::pair<absl::string_view, std::string>>;

inline std::string With(absl::string_view text, const Replacements& replacements) {
  return absl::StrReplaceAll(text, replacements);
}

inline constexpr absl::string_view kSoftmax = R"(graph {
  %0 = input() : TYPE[5,N]
  %1 = reduce_max(%0){axes=[1], keep_dims=true}
  %2 = broadcast(%1){axes=[0, 1], shape=[5, N]}
  %3 = sub(%0, %2)
  %4 = exp(%3)
  %5 = reduce_sum(%4){axes=[1], keep_dims=false}
  %6 = broadcast(%5){axes=[0], shape=[5, N]}
  %7 = div(%4, %6)
  return %7, %5
})";

// y = x / sqrt(mean(x^2) + eps) * w, computed in f32, and 1 / sqrt(...).
inline constexpr absl::string_view kRmsNorm = R"(graph {
  %x = input() : bf16[2,3,N]
  %w = input() : bf16[N]
  %wide = convert(%x){dtype=f32}
  %square = mul(%wide, %wide)
  %sum = reduce_sum(%square){axes=[2], keep_dims=true}
  %n = constant(){value=f32[2,3,1] {splat 0.01}}
  %mean = mul(%sum, %n)
  %eps = constant(){value=f32[2,3,1] {splat 1e-05}}
  %shifted = add(%mean, %eps)
  %inverse = rsqrt(%shifted)
  %scale = broadcast(%inverse){axes=[0, 1, 2], shape=[2, 3, N]}
  %normal = mul(%wide, %scale)
  %narrow = convert(%normal){dtype=bf16}
  %weight = broadcast(%w){axes=[2], shape=[2, 3, N]}
  %y = mul(%narrow, %weight)
  return %y, %inverse
})";

// Gradient of layer norm with respect to x, from x, dy, w: two independent sums in one pass.
inline constexpr absl::string_view kLayerNormGradient = R"(graph {
  %x = input() : f32[6,N]
  %dy = input() : f32[6,N]
  %w = input() : f32[N]
  %count = constant(){value=f32[6] {splat 0.015625}}
  %sum = reduce_sum(%x){axes=[1]}
  %mean = mul(%sum, %count)
  %mean2 = broadcast(%mean){axes=[0], shape=[6, N]}
  %centred = sub(%x, %mean2)
  %square = mul(%centred, %centred)
  %squares = reduce_sum(%square){axes=[1]}
  %variance = mul(%squares, %count)
  %eps = constant(){value=f32[6] {splat 1e-05}}
  %shifted = add(%variance, %eps)
  %inverse = rsqrt(%shifted)
  %inverse2 = broadcast(%inverse){axes=[0], shape=[6, N]}
  %xhat = mul(%centred, %inverse2)
  %w2 = broadcast(%w){axes=[1], shape=[6, N]}
  %g = mul(%dy, %w2)
  %gx = mul(%g, %xhat)
  %sum_g = reduce_sum(%g){axes=[1]}
  %sum_gx = reduce_sum(%gx){axes=[1]}
  %mean_g = mul(%sum_g, %count)
  %mean_gx = mul(%sum_gx, %count)
  %mean_g2 = broadcast(%mean_g){axes=[0], shape=[6, N]}
  %mean_gx2 = broadcast(%mean_gx){axes=[0], shape=[6, N]}
  %a = sub(%g, %mean_g2)
  %b = mul(%xhat, %mean_gx2)
  %c = sub(%a, %b)
  %dx = mul(%c, %inverse2)
  return %dx, %xhat, %inverse
})";

// Step sizes and the like arrive as scalars; three results lie over their inputs.
inline constexpr absl::string_view kAdamW = R"(graph {
  %p = input() : f32[1000]
  %m = input() : f32[1000]
  %v = input() : f32[1000]
  %g = input() : bf16[1000]
  %lr = input() : f32[]
  %grad = convert(%g){dtype=f32}
  %b1 = constant(){value=f32[1000] {splat 0.9}}
  %c1 = constant(){value=f32[1000] {splat 0.1}}
  %b2 = constant(){value=f32[1000] {splat 0.999}}
  %c2 = constant(){value=f32[1000] {splat 0.001}}
  %eps = constant(){value=f32[1000] {splat 1e-08}}
  %m1 = mul(%m, %b1)
  %m2 = mul(%grad, %c1)
  %m3 = add(%m1, %m2)
  %v1 = mul(%v, %b2)
  %gg = mul(%grad, %grad)
  %v2 = mul(%gg, %c2)
  %v3 = add(%v1, %v2)
  %root = sqrt(%v3)
  %denominator = add(%root, %eps)
  %ratio = div(%m3, %denominator)
  %rate = broadcast(%lr){axes=[], shape=[1000]}
  %step = mul(%ratio, %rate)
  %p3 = sub(%p, %step)
  %p4 = convert(%p3){dtype=bf16}
  return %p3, %m3, %v3, %p4
})";

}  // namespace trencadis::codegen::testing

#endif  // TRENCADIS_RUNTIME_CODEGEN_FUSION_BODIES_H_
