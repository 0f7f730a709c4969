#include "runtime/compiler/passes/canonicalise.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

TEST(Canonicalise, ReshapesCompose) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2,6]
    %a = reshape(%x){shape=[12]}
    %b = reshape(%a){shape=[3,4]}
    %c = reshape(%a){shape=[2,6]}
    return %b, %c
  })",
                R"(graph {
    %x = input() : f32[2,6]
    %b = reshape(%x){shape=[3,4]}
    return %b, %x
  })");
}

TEST(Canonicalise, TransposesComposeOrVanish) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2,3,4]
    %a = transpose(%x){permutation=[1,0,2]}
    %b = transpose(%a){permutation=[1,0,2]}
    %c = transpose(%a){permutation=[2,1,0]}
    return %b, %c
  })",
                R"(graph {
    %x = input() : f32[2,3,4]
    %c = transpose(%x){permutation=[2,0,1]}
    return %x, %c
  })");
}

TEST(Canonicalise, TransposeOfUnitAxesIsAReshape) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[1,3,1,4]
    %a = transpose(%x){permutation=[1,0,3,2]}
    return %a
  })",
                R"(graph {
    %x = input() : f32[1,3,1,4]
    %a = reshape(%x){shape=[3,1,4,1]}
    return %a
  })");
}

TEST(Canonicalise, BroadcastsCompose) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[3]
    %row = reshape(%x){shape=[1,3]}
    %a = broadcast(%row){shape=[2,3], axes=[0,1]}
    %b = broadcast(%a){shape=[5,2,3], axes=[1,2]}
    %same = broadcast(%x){shape=[1,3], axes=[1]}
    return %b, %same
  })",
                R"(graph {
    %x = input() : f32[3]
    %b = broadcast(%x){shape=[5,2,3], axes=[2]}
    %same = reshape(%x){shape=[1,3]}
    return %b, %same
  })");
}

TEST(Canonicalise, SlicesCompose) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[11]
    %a = slice(%x){starts=[1], limits=[11], strides=[2]}
    %b = slice(%a){starts=[1], limits=[5], strides=[3]}
    %all = slice(%x){starts=[0], limits=[11], strides=[1]}
    return %b, %all
  })",
                R"(graph {
    %x = input() : f32[11]
    %b = slice(%x){starts=[3], limits=[11], strides=[6]}
    return %b, %x
  })");
}

TEST(Canonicalise, ReversesCancel) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[3,1]
    %a = reverse(%x){axes=[0]}
    %b = reverse(%a){axes=[0]}
    %c = reverse(%x){axes=[1]}
    return %b, %c
  })",
                R"(graph {
    %x = input() : f32[3,1]
    return %x, %x
  })");
}

TEST(Canonicalise, ConstantsOfEqualElementsBecomeScalarsAndComeSecond) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2]
    %c = constant(){value=f32[2] {2.5, 2.5}}
    %y = mul(%c, %x)
    return %y
  })",
                R"(graph {
    %x = input() : f32[2]
    %s = constant(){value=f32[] {2.5}}
    %c = broadcast(%s){shape=[2], axes=[]}
    %y = mul(%x, %c)
    return %y
  })");
}

TEST(Canonicalise, DefaultAttributesOfProductsAreDropped) {
  Canonicalise pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %c = matmul(%a, %b){transpose_a=false, dtype=f32}
    return %c
  })",
                R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %c = matmul(%a, %b)
    return %c
  })");
}

TEST(Canonicalise, LeavesCanonicalGraphsAlone) {
  Canonicalise pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[2,3]
    %t = transpose(%x){permutation=[1,0]}
    %r = reshape(%t){shape=[6]}
    %s = slice(%r){starts=[0], limits=[4], strides=[2]}
    %v = reverse(%s){axes=[0]}
    %b = broadcast(%v){shape=[3,2], axes=[1]}
    return %b
  })");
}

}  // namespace
}  // namespace trencadis::compiler
