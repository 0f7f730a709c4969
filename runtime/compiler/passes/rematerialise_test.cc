#include "runtime/compiler/passes/rematerialise.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

// Everything counts as large; two products in between make a use far.
constexpr RematerialiseOptions kEager = {.min_bytes = 0, .min_distance = 2, .max_nodes = 8};

// silu(gate) * up is needed by the last product, when gate and up are needed in any case.
TEST(Rematerialise, RepeatsACheapValueWhoseSourcesLive) {
  Rematerialise pass(kEager);
  ExpectRewrite(pass, R"(graph {
    %gate = input() : f32[2,2]
    %w = input() : f32[2,2]
    %up = matmul(%gate, %w)
    %act = silu(%gate)
    %h = mul(%act, %up)
    %p = matmul(%h, %w)
    %q = matmul(%p, %w)
    %dw = matmul(%h, %q)
    %dup = mul(%up, %dw)
    return %dup
  })",
                R"(graph {
    %gate = input() : f32[2,2]
    %w = input() : f32[2,2]
    %up = matmul(%gate, %w)
    %act = silu(%gate)
    %h = mul(%act, %up)
    %p = matmul(%h, %w)
    %q = matmul(%p, %w)
    %act2 = silu(%gate)
    %h2 = mul(%act2, %up)
    %dw = matmul(%h2, %q)
    %dup = mul(%up, %dw)
    return %dup
  })");
}

TEST(Rematerialise, LaterUsesNearbyShareTheRepetition) {
  Rematerialise pass(kEager);
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %w = input() : f32[2,2]
    %h = exp(%x)
    %p = matmul(%h, %w)
    %q = matmul(%p, %w)
    %r = matmul(%h, %q)
    %s = matmul(%h, %r)
    return %s
  })",
                R"(graph {
    %x = input() : f32[2,2]
    %w = input() : f32[2,2]
    %h = exp(%x)
    %p = matmul(%h, %w)
    %q = matmul(%p, %w)
    %h2 = exp(%x)
    %r = matmul(%h2, %q)
    %s = matmul(%h2, %r)
    return %s
  })");
}

TEST(Rematerialise, KeepsWhatWouldKeepItsSourcesAlive) {
  Rematerialise pass(kEager);
  // The product dies after exp: to repeat exp, it would have to be kept instead.
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %w = input() : f32[2,2]
    %t = matmul(%x, %w)
    %h = exp(%t)
    %p = matmul(%h, %w)
    %q = matmul(%p, %w)
    %r = matmul(%h, %q)
    return %r
  })");
  // Reductions and products are never repeated, and near uses are no reason.
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %w = input() : f32[2,2]
    %s = reduce_sum(%x){axes=[1]}
    %h = exp(%x)
    %p = matmul(%h, %w)
    %q = matmul(%h, %p)
    %b = broadcast(%s){shape=[2,2], axes=[0]}
    %r = matmul(%b, %q)
    return %r
  })");
}

TEST(Rematerialise, KeepsOutputsAndWhatABarrierWaitsFor) {
  Rematerialise pass(kEager);
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %w = input() : f32[2,2]
    %h = exp(%x)
    %e = neg(%x)
    %p = matmul(%h, %w)
    %q = matmul(%p, %w)
    %b = barrier(%q, %e)
    %r = matmul(%h, %b)
    return %r, %h
  })");
}

TEST(Rematerialise, SmallValuesAreKept) {
  Rematerialise pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %h = exp(%x)
    %a = matmul(%h, %x)
    %b = matmul(%a, %x)
    %c = matmul(%b, %x)
    %d = matmul(%c, %x)
    %e = matmul(%d, %x)
    %f = matmul(%e, %x)
    %g = matmul(%f, %x)
    %i = matmul(%g, %x)
    %j = matmul(%h, %i)
    return %j
  })");
}

}  // namespace
}  // namespace trencadis::compiler
