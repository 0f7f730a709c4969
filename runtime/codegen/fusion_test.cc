// Bodies as models have them: softmax, norms and their gradients, rotary embeddings, AdamW, sums.
#include "runtime/codegen/fusion.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "runtime/codegen/fusion_bodies.h"
#include "runtime/codegen/fusion_testing.h"
#include "runtime/codegen/loaded_kernels.h"

namespace trencadis::codegen {
namespace {

using testing::CheckBody;
using testing::ParseBody;
using testing::RandomInputs;
using testing::RunBody;
using testing::With;

TEST(RowTest, Softmax) {
  for (int size : {1, 3, 16, 17, 64, 100, 1000, 4096, 5000}) {
    CheckBody(With(testing::kSoftmax, {{"TYPE", "f32"}, {"N", absl::StrCat(size)}}), 2e-5);
  }
  CheckBody(With(testing::kSoftmax, {{"TYPE", "bf16"}, {"N", "100"}}), 4e-2);
}

TEST(RowTest, RmsNorm) {
  for (int size : {8, 64, 100, 576}) {
    CheckBody(With(testing::kRmsNorm, {{"N", absl::StrCat(size)}}), 1e-5);
  }
}

TEST(RowTest, LayerNormGradient) {
  for (int size : {64, 100, 1536}) {
    CheckBody(With(testing::kLayerNormGradient, {{"N", absl::StrCat(size)}}), 2e-4);
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
    bodies.push_back(
        ParseBody(With(testing::kSoftmax, {{"TYPE", "f32"}, {"N", absl::StrCat(size)}})));
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
  const auto softmax = CompileFusion(
      ParseBody(With(testing::kSoftmax, {{"TYPE", "f32"}, {"N", "100"}})), Target::Host(), "k");
  const auto norm =
      CompileFusion(ParseBody(With(testing::kRmsNorm, {{"N", "100"}})), Target::Host(), "k");
  ASSERT_TRUE(softmax.ok() && norm.ok());
  EXPECT_GE(softmax->scratch_bytes_per_thread, 400);
  EXPECT_LT(softmax->scratch_bytes_per_thread, 600);
  EXPECT_EQ(norm->scratch_bytes_per_thread, 0);
}

TEST(CompileFusionTest, IsDeterministic) {
  const ir::Graph body = ParseBody(With(testing::kLayerNormGradient, {{"N", "100"}}));
  const auto first = CompileFusion(body, Target::Host(), "k");
  const auto second = CompileFusion(body, Target::Host(), "k");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->object, second->object);
}

}  // namespace
}  // namespace trencadis::codegen
