// Views: alone, of computed values, and in random chains.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/codegen/fusion.h"
#include "runtime/codegen/fusion_testing.h"
#include "runtime/ir/graph_builder.h"
#include "runtime/ir/text.h"
#include "runtime/ops/registry.h"

namespace trencadis::codegen {
namespace {

using testing::CheckBody;
using testing::ExpectNear;
using testing::RandomInputs;
using testing::Reference;
using testing::RunBody;

using Ints = std::vector<int64_t>;

constexpr double kTolerance = 1e-5;

TEST(ViewTest, EachAloneAndOfComputedValues) {
  constexpr absl::string_view kViews[] = {
      "broadcast(%v){axes=[0, 1, 3], shape=[3, 4, 2, 20]}",
      "transpose(%v){permutation=[2, 0, 1]}",
      "transpose(%v){permutation=[1, 0, 2]}",
      "slice(%v){starts=[1, 0, 3], limits=[3, 4, 19], strides=[1, 2, 1]}",
      "slice(%v){starts=[0, 1, 0], limits=[3, 2, 20], strides=[2, 1, 3]}",
      "reverse(%v){axes=[0, 2]}",
      "reverse(%v){axes=[1]}",
      "reshape(%v){shape=[12, 20]}",
      "reshape(%v){shape=[3, 8, 10]}",
      "reshape(%v){shape=[240]}",
  };
  for (absl::string_view view : kViews) {
    for (const char* dtype : {"f32", "bf16", "i64", "bool"}) {
      CheckBody(absl::StrReplaceAll(R"(graph {
        %v = input() : TYPE[3,4,20]
        %w = VIEW
        return %w
      })",
                                    {{"TYPE", dtype}, {"VIEW", std::string(view)}}));
    }
    CheckBody(absl::StrReplaceAll(R"(graph {
      %u = input() : f32[3,4,20]
      %v = exp(%u)
      %w = VIEW
      %x = neg(%w)
      return %x
    })",
                                  {{"VIEW", std::string(view)}}),
              kTolerance);
  }
}

TEST(ViewTest, TransposesInTiles) {
  for (const char* dtype : {"f32", "bf16", "u8"}) {
    CheckBody(absl::StrReplaceAll(R"(graph {
      %0 = input() : TYPE[3,37,50]
      %1 = input() : TYPE[3,50,37]
      %2 = transpose(%0){permutation=[0, 2, 1]}
      %3 = add(%1, %2)
      return %3
    })",
                                  {{"TYPE", dtype}}));
  }
}

TEST(ViewTest, ChainsOfViews) {
  // Heads apart, halves swapped, heads together.
  CheckBody(R"(graph {
    %0 = input() : f32[2,6,32]
    %1 = sigmoid(%0)
    %2 = reshape(%1){shape=[2, 6, 4, 8]}
    %3 = transpose(%2){permutation=[0, 2, 1, 3]}
    %4 = reshape(%3){shape=[8, 6, 2, 4]}
    %5 = reverse(%4){axes=[2]}
    %6 = reshape(%5){shape=[8, 48]}
    %7 = slice(%6){starts=[0, 8], limits=[8, 40], strides=[1, 1]}
    return %7
  })");
}

// Grows a random chain of views and cheap ops.
class RandomChain {
 public:
  RandomChain(ir::Graph& graph, int seed) : random_(seed), builder_(graph, ops::FindOp) {
    value_ = builder_.Input({DType::kF32, Shape{2, 6, 4, 8}});
  }
  // True if the chain is well formed.
  bool Grow(int length) {
    for (int i = 0; i < length; ++i) value_ = Next();
    return builder_.Finish({value_}).ok();
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % n); }
  ir::Val Emit(absl::string_view name, ir::Attributes attributes = {}) {
    return builder_.Emit1(name, {value_}, std::move(attributes));
  }

  ir::Val Next() {
    const Ints dims = builder_.TypeOf(value_).shape.dims();
    const int64_t rank = static_cast<int64_t>(dims.size());
    switch (Below(rank == 0 ? 1 : 7)) {
      case 0:
        return Emit("neg");
      case 1:
        return Emit("reverse", {{"axes", Ints{Below(rank)}}});
      case 2: {
        Ints permutation(rank);
        std::iota(permutation.begin(), permutation.end(), 0);
        std::shuffle(permutation.begin(), permutation.end(), random_);
        return Emit("transpose", {{"permutation", permutation}});
      }
      case 3: {
        Ints starts, limits, strides;
        for (int64_t dim : dims) {
          starts.push_back(Below(3) == 0 ? Below(dim) : 0);
          limits.push_back(dim - (Below(3) == 0 ? Below(dim - starts.back()) : 0));
          strides.push_back(1 + (Below(4) == 0 ? Below(3) : 0));
        }
        return Emit("slice", {{"starts", starts}, {"limits", limits}, {"strides", strides}});
      }
      case 4: {
        Ints shape = dims, axes(rank);
        std::iota(axes.begin(), axes.end(), 0);
        if (builder_.TypeOf(value_).shape.num_elements() > 1000 || rank > 5) return Emit("abs");
        const int64_t at = Below(rank + 1);
        shape.insert(shape.begin() + at, 1 + Below(3));
        for (int64_t& axis : axes) axis += axis >= at;
        return Emit("broadcast", {{"shape", shape}, {"axes", axes}});
      }
      case 5: {
        // Merge two axes.
        if (rank < 2) return Emit("exp");
        Ints shape = dims;
        const int64_t at = Below(rank - 1);
        shape[at] *= shape[at + 1];
        shape.erase(shape.begin() + at + 1);
        return Emit("reshape", {{"shape", shape}});
      }
      default: {
        // Split an axis.
        if (rank > 5) return Emit("tanh");
        Ints shape = dims;
        const int64_t at = Below(rank);
        const int64_t inner = shape[at] % 2 == 0 ? 2 : shape[at] % 3 == 0 ? 3 : 1;
        shape[at] /= inner;
        shape.insert(shape.begin() + at + 1, inner);
        return Emit("reshape", {{"shape", shape}});
      }
    }
  }

  std::mt19937 random_;
  ir::GraphBuilder builder_;
  ir::Val value_;
};

TEST(ViewTest, RandomChainsMatchTheReferenceWhereTheyFuse) {
  int fused = 0;
  constexpr int kTrials = 300;
  for (int seed = 0; seed < kTrials; ++seed) {
    ir::Graph body;
    ASSERT_TRUE(RandomChain(body, seed).Grow(2 + seed % 8));
    if (!CheckFusible(body).ok()) continue;
    SCOPED_TRACE(ir::GraphToText(body));
    ++fused;
    const std::vector<Literal> inputs = RandomInputs(body, seed);
    const auto got = RunBody(body, Target::Host(), inputs, {.pieces = 1 + seed % 3});
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectNear(*got, Reference(body, inputs), kTolerance);
  }
  EXPECT_GT(fused, kTrials / 2);
}

}  // namespace
}  // namespace trencadis::codegen
