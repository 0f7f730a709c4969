// Bodies as models have them: softmax, norms and their gradients, rotary embeddings, AdamW, sums.
#include "runtime/codegen/fusion.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/codegen/fusion_testing.h"
#include "runtime/codegen/loaded_kernels.h"

namespace trencadis::codegen {
namespace {

using testing::CheckBody;
using testing::ParseBody;
using testing::RandomInputs;
using testing::RunBody;
using testing::SameBits;

using Replacements = std::vector<std::pair<absl::string_view, std::string>>;

std::string With(absl::string_view text, const Replacements& replacements) {
  return absl::StrReplaceAll(text, replacements);
}

constexpr absl::string_view kSoftmax = R"(graph {
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

TEST(RowTest, Softmax) {
  for (int size : {1, 3, 16, 17, 64, 100, 1000, 4096, 5000}) {
    CheckBody(With(kSoftmax, {{"TYPE", "f32"}, {"N", absl::StrCat(size)}}), 2e-5);
  }
  CheckBody(With(kSoftmax, {{"TYPE", "bf16"}, {"N", "100"}}), 4e-2);
}

// y = x / sqrt(mean(x^2) + eps) * w, computed in f32, and 1 / sqrt(...).
constexpr absl::string_view kRmsNorm = R"(graph {
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

TEST(RowTest, RmsNorm) {
  for (int size : {8, 64, 100, 576}) {
    CheckBody(With(kRmsNorm, {{"N", absl::StrCat(size)}}), 1e-5);
  }
}

// Gradient of layer norm with respect to x, from x, dy, w: two independent sums in one pass.
constexpr absl::string_view kLayerNormGradient = R"(graph {
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

TEST(RowTest, LayerNormGradient) {
  for (int size : {64, 100, 1536}) {
    CheckBody(With(kLayerNormGradient, {{"N", absl::StrCat(size)}}), 2e-4);
  }
}

TEST(RowTest, ReducesEveryTypeAndFunction) {
  for (const char* dtype : {"f32", "bf16", "i32", "i64", "u8"}) {
    for (const char* reduce : {"reduce_sum", "reduce_max", "reduce_min"}) {
      for (int size : {1, 7, 64, 100, 4100}) {
        CheckBody(With(R"(graph {
          %0 = input() : TYPE[3,N]
          %1 = REDUCE(%0){axes=[1]}
          return %1
        })",
                       {{"TYPE", dtype}, {"REDUCE", reduce}, {"N", absl::StrCat(size)}}),
                  1e-4);
      }
    }
  }
}

TEST(RowTest, SumsEverythingToAScalarInTwoStages) {
  for (int size : {1, 100, 4096, 4097, 20000}) {
    CheckBody(With(R"(graph {
      %0 = input() : f32[2,N]
      %1 = mul(%0, %0)
      %2 = reduce_sum(%1){axes=[0, 1]}
      %3 = sqrt(%2)
      return %3, %1
    })",
                   {{"N", absl::StrCat(size)}}),
              1e-5);
  }
}

TEST(RowTest, ReducesThroughViewsInTheOrderOfTheFlatRow) {
  // The row is cut into halves, and so is summed from a flat copy.
  CheckBody(R"(graph {
    %0 = input() : f32[4,96]
    %1 = reshape(%0){shape=[4, 2, 48]}
    %2 = reverse(%1){axes=[1]}
    %3 = reshape(%2){shape=[4, 96]}
    %4 = exp(%3)
    %5 = reduce_sum(%4){axes=[1]}
    %6 = broadcast(%5){axes=[0], shape=[4, 96]}
    %7 = div(%4, %6)
    return %7
  })",
            1e-5);
  CheckBody(R"(graph {
    %0 = input() : f32[3,40,5]
    %1 = transpose(%0){permutation=[0, 2, 1]}
    %2 = reduce_max(%1){axes=[2]}
    return %2
  })");
  // Neither leading nor trailing.
  CheckBody(R"(graph {
    %0 = input() : f32[3,4,5,6]
    %1 = reduce_sum(%0){axes=[1, 3], keep_dims=true}
    %2 = broadcast(%1){axes=[0, 1, 2, 3], shape=[3, 4, 5, 6]}
    %3 = sub(%0, %2)
    return %3
  })",
            1e-5);
}

TEST(RowTest, SharesAKernelBetweenRowsOfTwoLengths) {
  CheckBody(R"(graph {
    %0 = input() : f32[4,48]
    %1 = input() : f32[4,30]
    %2 = reduce_sum(%0){axes=[1]}
    %3 = reduce_max(%1){axes=[1]}
    %4 = mul(%2, %3)
    %5 = broadcast(%4){axes=[0], shape=[4, 30]}
    %6 = add(%1, %5)
    return %6, %4
  })",
            1e-5);
}

TEST(RowTest, FoldsNothing) {
  CheckBody(R"(graph {
    %0 = input() : f32[4,0]
    %1 = reduce_sum(%0){axes=[1]}
    %2 = reduce_max(%0){axes=[1]}
    return %1, %2
  })");
}

TEST(ColumnTest, SumsOverLeadingAndMiddleAxes) {
  for (int rows : {1, 3, 4, 64, 65, 300}) {
    for (int columns : {2, 5, 16, 33, 3000}) {
      CheckBody(With(R"(graph {
        %0 = input() : f32[2,R,C]
        %1 = reduce_sum(%0){axes=[1]}
        return %1
      })",
                     {{"R", absl::StrCat(rows)}, {"C", absl::StrCat(columns)}}),
                1e-4);
    }
  }
}

TEST(ColumnTest, ReducesEveryTypeAndFunction) {
  for (const char* dtype : {"f32", "bf16", "i32", "i64", "u8"}) {
    for (const char* reduce : {"reduce_sum", "reduce_max", "reduce_min"}) {
      CheckBody(With(R"(graph {
        %0 = input() : TYPE[130,20]
        %1 = REDUCE(%0){axes=[0]}
        return %1
      })",
                     {{"TYPE", dtype}, {"REDUCE", reduce}}),
                1e-4);
    }
  }
}

TEST(ColumnTest, GradientsOfNormWeights) {
  CheckBody(R"(graph {
    %x = input() : bf16[2,70,40]
    %dy = input() : bf16[2,70,40]
    %inverse = input() : f32[2,70,1]
    %wide = convert(%x){dtype=f32}
    %scale = broadcast(%inverse){axes=[0, 1, 2], shape=[2, 70, 40]}
    %xhat = mul(%wide, %scale)
    %dwide = convert(%dy){dtype=f32}
    %product = mul(%dwide, %xhat)
    %dgamma = reduce_sum(%product){axes=[0, 1]}
    %dbeta = reduce_sum(%dwide){axes=[0, 1]}
    %narrow = convert(%dgamma){dtype=bf16}
    return %dgamma, %dbeta, %narrow
  })",
            1e-4);
}

TEST(ColumnTest, FoldsNothing) {
  CheckBody(R"(graph {
    %0 = input() : f32[0,20]
    %1 = reduce_sum(%0){axes=[0]}
    return %1
  })");
}

// x cos + swap_halves(x) sign sin, per head.
TEST(ElementwiseTest, RotaryEmbedding) {
  for (const char* dtype : {"f32", "bf16"}) {
    CheckBody(With(R"(graph {
      %x = input() : TYPE[2,7,3,64]
      %cos = input() : TYPE[7,64]
      %sin = input() : TYPE[7,64]
      %halves = reshape(%x){shape=[2, 7, 3, 2, 32]}
      %swapped = reverse(%halves){axes=[3]}
      %flat = reshape(%swapped){shape=[2, 7, 3, 64]}
      %cos4 = broadcast(%cos){axes=[1, 3], shape=[2, 7, 3, 64]}
      %sin4 = broadcast(%sin){axes=[1, 3], shape=[2, 7, 3, 64]}
      %a = mul(%x, %cos4)
      %b = mul(%flat, %sin4)
      %y = add(%a, %b)
      return %y
    })",
                   {{"TYPE", dtype}}));
  }
}

// Step sizes and the like arrive as scalars; three results lie over their inputs.
constexpr absl::string_view kAdamW = R"(graph {
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

TEST(AliasTest, AdamWUpdatesInPlace) {
  const ir::Graph body = ParseBody(kAdamW);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(CanAlias(body, i, i));
  }
  EXPECT_TRUE(CanAlias(body, 3, 3));   // bf16 gradient under the bf16 copy
  EXPECT_FALSE(CanAlias(body, 3, 0));  // another type
  std::vector<Literal> inputs = RandomInputs(body, 5);
  for (int64_t i = 0; i < 1000; ++i) inputs[2].SetDouble(i, std::abs(inputs[2].AsDouble(i)));
  const auto apart = RunBody(body, Target::Host(), inputs);
  const auto in_place = RunBody(body, Target::Host(), inputs,
                                {.pieces = 2, .aliases = {{0, 0}, {1, 1}, {2, 2}, {3, 3}}});
  ASSERT_TRUE(apart.ok() && in_place.ok());
  testing::ExpectNear(*apart, testing::Reference(body, inputs), 3e-6);
  EXPECT_TRUE(SameBits(*apart, *in_place));
}

TEST(AliasTest, SoftmaxAndNormRunInPlace) {
  for (absl::string_view text : {kSoftmax, kLayerNormGradient}) {
    const ir::Graph body = ParseBody(With(text, {{"TYPE", "f32"}, {"N", "100"}}));
    ASSERT_TRUE(CanAlias(body, 0, 0));
    const std::vector<Literal> inputs = RandomInputs(body, 5);
    const auto apart = RunBody(body, Target::Host(), inputs);
    const auto in_place = RunBody(body, Target::Host(), inputs, {.pieces = 2, .aliases = {{0, 0}}});
    ASSERT_TRUE(apart.ok() && in_place.ok());
    EXPECT_TRUE(SameBits(*apart, *in_place));
  }
}

TEST(AliasTest, RefusesWhatIsReadElsewhereOrLater) {
  const ir::Graph reversed = ParseBody(R"(graph {
    %0 = input() : f32[10]
    %1 = reverse(%0){axes=[0]}
    return %1
  })");
  EXPECT_FALSE(CanAlias(reversed, 0, 0));
  // exp(x) is written by the pass that sums it; x is read again by the pass after.
  const ir::Graph later = ParseBody(R"(graph {
    %0 = input() : f32[4,10]
    %1 = exp(%0)
    %2 = reduce_sum(%1){axes=[1]}
    %3 = broadcast(%2){axes=[0], shape=[4, 10]}
    %4 = add(%0, %3)
    return %1, %4
  })");
  EXPECT_FALSE(CanAlias(later, 0, 0));
  EXPECT_TRUE(CanAlias(later, 0, 1));
  const ir::Graph column = ParseBody(R"(graph {
    %0 = input() : f32[4,10]
    %1 = input() : f32[10]
    %2 = reduce_sum(%0){axes=[0]}
    %3 = add(%1, %2)
    return %3
  })");
  EXPECT_TRUE(CanAlias(column, 1, 0));
  const ir::Graph folded = ParseBody(R"(graph {
    %0 = input() : f32[4,10]
    %1 = input() : f32[10]
    %2 = broadcast(%1){axes=[1], shape=[4, 10]}
    %3 = mul(%0, %2)
    %4 = reduce_sum(%3){axes=[0]}
    return %4
  })");
  EXPECT_FALSE(CanAlias(folded, 1, 0));
}

TEST(AliasTest, GradientsAccumulateInPlace) {
  const ir::Graph body = ParseBody(R"(graph {
    %0 = input() : f32[500,30]
    %1 = input() : f32[30]
    %2 = reduce_sum(%0){axes=[0]}
    %3 = add(%1, %2)
    return %3
  })");
  const std::vector<Literal> inputs = RandomInputs(body, 5);
  const auto apart = RunBody(body, Target::Host(), inputs);
  const auto in_place = RunBody(body, Target::Host(), inputs, {.pieces = 3, .aliases = {{1, 0}}});
  ASSERT_TRUE(apart.ok() && in_place.ok());
  EXPECT_TRUE(SameBits(*apart, *in_place));
}

TEST(CheckFusibleTest, NamesWhatStandsInTheWay) {
  const auto error = [](absl::string_view text) {
    const absl::Status status = CheckFusible(ParseBody(text));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    return std::string(status.message());
  };
  EXPECT_NE(error(R"(graph {
    %0 = input() : f32[4,4]
    %1 = matmul(%0, %0)
    return %1
  })")
                .find("node 1 (matmul)"),
            std::string::npos);
  // A computed value whose slice is reshaped across the slice's edge.
  EXPECT_NE(error(R"(graph {
    %0 = input() : f32[4,7]
    %1 = exp(%0)
    %2 = slice(%1){starts=[0, 1], limits=[4, 4], strides=[1, 1]}
    %3 = reshape(%2){shape=[6, 2]}
    %4 = transpose(%3){permutation=[1, 0]}
    return %4
  })")
                .find("materialised"),
            std::string::npos);
  EXPECT_NE(error(R"(graph {
    %0 = input() : f32[4,7]
    %1 = reduce_sum(%0){axes=[0]}
    %2 = reduce_sum(%0){axes=[1]}
    return %1, %2
  })")
                .find("different loops"),
            std::string::npos);
  EXPECT_NE(error(R"(graph {
    %0 = input() : f32[4,7]
    %1 = exp(%0)
    %2 = slice(%0){starts=[0, 1], limits=[4, 4], strides=[1, 1]}
    return %1, %2
  })")
                .find("elements"),
            std::string::npos);
}

TEST(CompileFusionsTest, CompilesABatchInOrder) {
  std::vector<ir::Graph> bodies;
  for (int size : {10, 20, 30, 40}) {
    bodies.push_back(ParseBody(With(kSoftmax, {{"TYPE", "f32"}, {"N", absl::StrCat(size)}})));
  }
  std::vector<FusionJob> jobs;
  for (size_t i = 0; i < bodies.size(); ++i) jobs.push_back({&bodies[i], absl::StrCat("k", i)});
  const auto kernels = CompileFusions(jobs, Target::Host(), 2);
  ASSERT_EQ(kernels.size(), jobs.size());
  std::vector<absl::string_view> objects;
  for (size_t i = 0; i < kernels.size(); ++i) {
    ASSERT_TRUE(kernels[i].ok()) << kernels[i].status();
    EXPECT_EQ(kernels[i]->stages[0].symbol, jobs[i].symbol);
    EXPECT_GT(kernels[i]->cost.flops, 0);
    objects.push_back(kernels[i]->object);
  }
  const auto loaded = LoadedKernels::Load(objects);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE((*loaded)->Find("k3").ok());
}

TEST(CompileFusionTest, KeepsOnlyDearValuesInScratch) {
  const auto softmax = CompileFusion(ParseBody(With(kSoftmax, {{"TYPE", "f32"}, {"N", "100"}})),
                                     Target::Host(), "k");
  const auto norm = CompileFusion(ParseBody(With(kRmsNorm, {{"N", "100"}})), Target::Host(), "k");
  ASSERT_TRUE(softmax.ok() && norm.ok());
  EXPECT_GE(softmax->scratch_bytes_per_thread, 400);
  EXPECT_LT(softmax->scratch_bytes_per_thread, 600);
  EXPECT_EQ(norm->scratch_bytes_per_thread, 0);
}

TEST(CompileFusionTest, IsDeterministic) {
  const ir::Graph body = ParseBody(With(kLayerNormGradient, {{"N", "100"}}));
  const auto first = CompileFusion(body, Target::Host(), "k");
  const auto second = CompileFusion(body, Target::Host(), "k");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->object, second->object);
}

}  // namespace
}  // namespace trencadis::codegen
