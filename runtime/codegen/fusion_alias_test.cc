// Kernels whose results lie over their operands.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/codegen/fusion.h"
#include "runtime/codegen/fusion_bodies.h"
#include "runtime/codegen/fusion_testing.h"

namespace trencadis::codegen {
namespace {

using testing::ParseBody;
using testing::RandomInputs;
using testing::RunBody;
using testing::SameBits;
using testing::With;

TEST(AliasTest, AdamWUpdatesInPlace) {
  const ir::Graph body = ParseBody(testing::kAdamW);
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
  for (absl::string_view text : {testing::kSoftmax, testing::kLayerNormGradient}) {
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

}  // namespace
}  // namespace trencadis::codegen
