#include "runtime/compiler/passes/constant_folding.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

TEST(ConstantFolding, ComputesExactOpsOnConstants) {
  ConstantFolding pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[]
    %a = constant(){value=f32[] {3.0}}
    %b = constant(){value=f32[] {0.5}}
    %c = mul(%a, %b)
    %d = sub(%c, %b)
    %y = add(%x, %d)
    return %y
  })",
                R"(graph {
    %x = input() : f32[]
    %d = constant(){value=f32[] {1.0}}
    %y = add(%x, %d)
    return %y
  })");
}

TEST(ConstantFolding, RoundsAsTheOpDoes) {
  ConstantFolding pass;
  ExpectRewrite(pass, R"(graph {
    %a = constant(){value=f32[2] {1.00390625, 3.0}}
    %b = convert(%a){dtype=bf16}
    return %b
  })",
                R"(graph {
    %b = constant(){value=bf16[2] {1.0, 3.0}}
    return %b
  })");
}

TEST(ConstantFolding, LeavesVectorFunctionsAndLargeResults) {
  ConstantFolding pass;
  ExpectNoRewrite(pass, R"(graph {
    %a = constant(){value=f32[] {3.0}}
    %e = exp(%a)
    %wide = broadcast(%a){shape=[100], axes=[]}
    %w = neg(%wide)
    return %e, %w
  })");
}

}  // namespace
}  // namespace trencadis::compiler
