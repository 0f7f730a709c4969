#include "runtime/compiler/passes/library_rewrite.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

TEST(LibraryRewrite, TransposesBecomeFlags) {
  LibraryRewrite pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[3,2]
    %b = input() : f32[4,3]
    %at = transpose(%a){permutation=[1,0]}
    %bt = transpose(%b){permutation=[1,0]}
    %c = matmul(%at, %bt)
    return %c
  })",
                R"(graph {
    %a = input() : f32[3,2]
    %b = input() : f32[4,3]
    %c = matmul(%a, %b){transpose_a=true, transpose_b=true}
    return %c
  })");
}

TEST(LibraryRewrite, ATransposedTransposeIsPlain) {
  LibraryRewrite pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[5,2,3]
    %b = input() : f32[5,3,4]
    %bt = transpose(%b){permutation=[0,2,1]}
    %c = matmul(%a, %bt){transpose_b=true}
    return %c
  })",
                R"(graph {
    %a = input() : f32[5,2,3]
    %b = input() : f32[5,3,4]
    %c = matmul(%a, %b)
    return %c
  })");
}

TEST(LibraryRewrite, RoundingTheResultIsTheResultsType) {
  LibraryRewrite pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : bf16[2,3]
    %b = input() : bf16[3,4]
    %c = matmul(%a, %b){dtype=f32}
    %d = convert(%c){dtype=bf16}
    return %d
  })",
                R"(graph {
    %a = input() : bf16[2,3]
    %b = input() : bf16[3,4]
    %d = matmul(%a, %b)
    return %d
  })");
}

TEST(LibraryRewrite, BiasScaleAndReluBecomeTheEpilogue) {
  LibraryRewrite pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %bias = input() : f32[4]
    %c = matmul(%a, %b)
    %half = constant(){value=f32[] {0.5}}
    %halves = broadcast(%half){shape=[2,4], axes=[]}
    %d = mul(%c, %halves)
    %rows = broadcast(%bias){shape=[2,4], axes=[1]}
    %e = add(%rows, %d)
    %f = relu(%e)
    return %f
  })",
                R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %bias = input() : f32[4]
    %f = fusion(%a, %b, %bias){body=graph {
      %a = input() : f32[2,3]
      %b = input() : f32[3,4]
      %bias = input() : f32[4]
      %c = matmul(%a, %b)
      %half = constant(){value=f32[] {0.5}}
      %halves = broadcast(%half){shape=[2,4], axes=[]}
      %d = mul(%c, %halves)
      %rows = broadcast(%bias){shape=[2,4], axes=[1]}
      %e = add(%d, %rows)
      %f = relu(%e)
      return %f
    }}
    return %f
  })");
}

// x W + s (x A) B: the second product adds to the first one's result.
TEST(LibraryRewrite, AdaptersAccumulateIntoTheBaseProduct) {
  LibraryRewrite pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2,3]
    %w = input() : f32[3,4]
    %a = input() : f32[3,1]
    %b = input() : f32[1,4]
    %base = matmul(%x, %w)
    %u = matmul(%x, %a)
    %v = matmul(%u, %b)
    %s = constant(){value=f32[] {2.0}}
    %ss = broadcast(%s){shape=[2,4], axes=[]}
    %scaled = mul(%v, %ss)
    %y = add(%base, %scaled)
    return %y
  })",
                R"(graph {
    %x = input() : f32[2,3]
    %w = input() : f32[3,4]
    %a = input() : f32[3,1]
    %b = input() : f32[1,4]
    %base = matmul(%x, %w)
    %u = matmul(%x, %a)
    %y = fusion(%u, %b, %base){body=graph {
      %u = input() : f32[2,1]
      %b = input() : f32[1,4]
      %base = input() : f32[2,4]
      %v = matmul(%u, %b)
      %s = constant(){value=f32[] {2.0}}
      %ss = broadcast(%s){shape=[2,4], axes=[]}
      %scaled = mul(%v, %ss)
      %y = add(%scaled, %base)
      return %y
    }}
    return %y
  })");
}

// In a recomputed segment the residual comes from behind a barrier.
TEST(LibraryRewrite, WhatABarrierShowsIsInMemory) {
  LibraryRewrite pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %r = input() : f32[2,4]
    %shown = barrier(%r, %a)
    %c = matmul(%a, %b)
    %d = add(%shown, %c)
    return %d
  })",
                R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %r = input() : f32[2,4]
    %shown = barrier(%r, %a)
    %d = fusion(%a, %b, %shown){body=graph {
      %a = input() : f32[2,3]
      %b = input() : f32[3,4]
      %shown = input() : f32[2,4]
      %c = matmul(%a, %b)
      %d = add(%c, %shown)
      return %d
    }}
    return %d
  })");
}

// An op on a rounded bf16 product is not the same op on the unrounded one; a value that others read
// must exist; and what has to be computed anyway is better added there.
TEST(LibraryRewrite, LeavesWhatWouldChangeNumbersOrSaveNothing) {
  LibraryRewrite pass;
  ExpectNoRewrite(pass, R"(graph {
    %a = input() : bf16[2,3]
    %b = input() : bf16[3,4]
    %r = input() : bf16[2,4]
    %c = matmul(%a, %b)
    %d = add(%c, %r)
    return %d
  })");
  ExpectNoRewrite(pass, R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %r = input() : f32[2,4]
    %c = matmul(%a, %b)
    %d = add(%c, %r)
    return %c, %d
  })");
  ExpectNoRewrite(pass, R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %r = input() : f32[2,4]
    %e = exp(%r)
    %c = matmul(%a, %b)
    %d = mul(%c, %e)
    return %d
  })");
}

}  // namespace
}  // namespace trencadis::compiler
