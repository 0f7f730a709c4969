#include "runtime/compiler/passes/fusion.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

using ::testing::ElementsAre;

// Fuses `text`, checks that its values stay the same, and tells what became of it: per node that is
// no input, constant or reshape, its op, for a fusion "compute ops joined by + -> number of
// outputs".
std::vector<std::string> Fuse(absl::string_view text, FusionLimits limits = {}) {
  const ir::Graph original = GraphFrom(text);
  ir::Graph graph = original;
  const absl::StatusOr<bool> changed = Fusion(limits).Run(graph);
  EXPECT_TRUE(changed.ok()) << changed.status();
  ExpectSameValues(original, graph);
  std::vector<std::string> kernels;
  for (const ir::Node& node : graph.nodes()) {
    const std::string name(node.op->name);
    if (name == "input" || name == "constant" || name == "reshape") continue;
    if (name != "fusion") {
      kernels.push_back(name);
      continue;
    }
    const ir::Graph& body = *node.attributes.Get<ir::GraphPtr>("body");
    std::vector<std::string> ops;
    for (const ir::Node& inner : body.nodes()) {
      const auto op_class = inner.op->traits.op_class;
      if (op_class == ir::OpClass::kElementwise || op_class == ir::OpClass::kReduction) {
        ops.emplace_back(inner.op->name);
      }
    }
    kernels.push_back(absl::StrCat(absl::StrJoin(ops, "+"), " -> ", body.outputs().size()));
  }
  return kernels;
}

TEST(Fusion, GoldenText) {
  Fusion pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2,3]
    %b = input() : f32[3]
    %rows = broadcast(%b){shape=[2,3], axes=[1]}
    %y = add(%x, %rows)
    %z = exp(%y)
    return %z
  })",
                R"(graph {
    %x = input() : f32[2,3]
    %b = input() : f32[3]
    %z = fusion(%x, %b){body=graph {
      %x = input() : f32[2,3]
      %b = input() : f32[3]
      %rows = broadcast(%b){shape=[2,3], axes=[1]}
      %y = add(%x, %rows)
      %z = exp(%y)
      return %z
    }}
    return %z
  })");
}

TEST(Fusion, SoftmaxIsOneKernel) {
  EXPECT_THAT(Fuse(R"(graph {
    %x = input() : f32[4,8]
    %m = reduce_max(%x){axes=[1], keep_dims=true}
    %mm = broadcast(%m){shape=[4,8], axes=[0,1]}
    %s = sub(%x, %mm)
    %e = exp(%s)
    %t = reduce_sum(%e){axes=[1], keep_dims=true}
    %tt = broadcast(%t){shape=[4,8], axes=[0,1]}
    %y = div(%e, %tt)
    return %y
  })"),
              ElementsAre("reduce_max+sub+exp+reduce_sum+div -> 1"));
}

// h = x + p; rms_norm(h): the sum is kept for later, the statistic too.
TEST(Fusion, ResidualAndNormAreOneKernel) {
  EXPECT_THAT(Fuse(R"(graph {
    %x = input() : f32[4,8]
    %p = input() : f32[4,8]
    %g = input() : f32[8]
    %w = input() : f32[8,8]
    %h = add(%x, %p)
    %sq = mul(%h, %h)
    %s = reduce_sum(%sq){axes=[1]}
    %r = rsqrt(%s)
    %rr = broadcast(%r){shape=[4,8], axes=[0]}
    %n = mul(%h, %rr)
    %gg = broadcast(%g){shape=[4,8], axes=[1]}
    %y = mul(%n, %gg)
    %q = matmul(%y, %w)
    %z = add(%q, %h)
    return %z
  })"),
              ElementsAre("add+mul+reduce_sum+rsqrt+mul+mul -> 2", "matmul", "add -> 1"));
}

// The gradient of a norm's input is a row kernel; that of its weight a column kernel that computes
// the normalised input again instead of reading it from memory.
TEST(Fusion, ColumnReductionsRepeatCheapProducers) {
  EXPECT_THAT(Fuse(R"(graph {
    %x = input() : f32[4,8]
    %r = input() : f32[4]
    %g = input() : f32[8]
    %dy = input() : f32[4,8]
    %rr = broadcast(%r){shape=[4,8], axes=[0]}
    %n = mul(%x, %rr)
    %dyn = mul(%dy, %n)
    %dg = reduce_sum(%dyn){axes=[0]}
    %gg = broadcast(%g){shape=[4,8], axes=[1]}
    %dn = mul(%dy, %gg)
    %p = mul(%dn, %n)
    %s = reduce_sum(%p){axes=[1]}
    %ss = broadcast(%s){shape=[4,8], axes=[0]}
    %t = mul(%n, %ss)
    %u = sub(%dn, %t)
    %dx = mul(%u, %rr)
    return %dx, %dg
  })"),
              ElementsAre("mul+mul+mul+reduce_sum+mul+sub+mul -> 1", "mul+mul+reduce_sum -> 1"));
}

TEST(Fusion, SiblingsThatReadTheSameAreOneKernel) {
  EXPECT_THAT(Fuse(R"(graph {
    %gate = input() : f32[32,16]
    %up = input() : f32[32,16]
    %dy = input() : f32[32,16]
    %dact = mul(%dy, %up)
    %dgate = silu_grad(%gate, %dact)
    %act = silu(%gate)
    %dup = mul(%dy, %act)
    return %dgate, %dup
  })"),
              ElementsAre("mul+silu_grad+silu+mul -> 2"));
}

// act is neither written nor read: the second kernel reads gate in any case.
TEST(Fusion, WhatFollowsFromItsInputsIsComputedAgain) {
  EXPECT_THAT(Fuse(R"(graph {
    %gate = input() : f32[32,32]
    %up = input() : f32[32,32]
    %act = silu(%gate)
    %h = mul(%act, %up)
    %p = matmul(%h, %h)
    %dgate = silu_grad(%gate, %p)
    %dup = mul(%p, %act)
    return %dgate, %dup
  })"),
              ElementsAre("silu+mul -> 1", "matmul", "silu_grad+silu+mul -> 2"));
}

TEST(Fusion, AnOptimizerUpdateIsOneKernel) {
  EXPECT_THAT(Fuse(R"(graph {
    %p = input() : f32[64]
    %m = input() : f32[64]
    %v = input() : f32[64]
    %g = input() : f32[64]
    %lr = input() : f32[]
    %b1 = constant(){value=f32[] {0.9}}
    %c1 = constant(){value=f32[] {0.1}}
    %bb = broadcast(%b1){shape=[64], axes=[]}
    %cc = broadcast(%c1){shape=[64], axes=[]}
    %m1 = mul(%m, %bb)
    %g1 = mul(%g, %cc)
    %m2 = add(%m1, %g1)
    %gg = mul(%g, %g)
    %v1 = mul(%v, %bb)
    %g2 = mul(%gg, %cc)
    %v2 = add(%v1, %g2)
    %r = sqrt(%v2)
    %u = div(%m2, %r)
    %ll = broadcast(%lr){shape=[64], axes=[]}
    %d = mul(%u, %ll)
    %p2 = sub(%p, %d)
    return %p2, %m2, %v2
  })"),
              ElementsAre("mul+mul+add+mul+mul+mul+add+sqrt+div+mul+sub -> 3"));
}

TEST(Fusion, NeverMakesACycle) {
  // exp and add cannot be one kernel: the product between them needs the one and feeds the other.
  EXPECT_THAT(Fuse(R"(graph {
    %x = input() : f32[4,4]
    %e = exp(%x)
    %p = matmul(%e, %x)
    %y = add(%e, %p)
    return %y
  })"),
              ElementsAre("exp -> 1", "matmul", "add -> 1"));
}

TEST(Fusion, ViewsThatOthersReadAreWrittenOut) {
  EXPECT_THAT(Fuse(R"(graph {
    %table = input() : f32[4,6]
    %ids = input() : i32[3]
    %t = transpose(%table){permutation=[1,0]}
    %e = exp(%t)
    %rows = take(%t, %ids)
    %flat = reshape(%rows){shape=[12]}
    return %e, %flat
  })"),
              ElementsAre("exp -> 2", "take"));
}

TEST(Fusion, KeepsWithinItsLimits) {
  const auto kernels = Fuse(R"(graph {
    %x = input() : f32[4]
    %a = exp(%x)
    %b = exp(%a)
    %c = exp(%b)
    return %c
  })",
                            {.nodes = 2});
  EXPECT_THAT(kernels, ElementsAre("exp+exp -> 1", "exp -> 1"));
}

// A reduction's result that another order of rows needs is no part of the same loops.
TEST(Fusion, GroupsThatTheCodeGeneratorRefusesAreCutInPieces) {
  EXPECT_THAT(Fuse(R"(graph {
    %x = input() : f32[4,3,5]
    %s = reduce_sum(%x){axes=[2]}
    %t = transpose(%s){permutation=[1,0]}
    %y = exp(%t)
    return %y
  })"),
              ElementsAre("reduce_sum -> 1", "exp -> 1"));
}

}  // namespace
}  // namespace trencadis::compiler
