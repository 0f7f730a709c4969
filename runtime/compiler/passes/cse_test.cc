#include "runtime/compiler/passes/cse.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

TEST(Cse, MergesEqualNodesAndTheirUsers) {
  Cse pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[4]
    %y = input() : f32[4]
    %a = add(%x, %y)
    %b = add(%y, %x)
    %c = exp(%a)
    %d = exp(%b)
    %e = sub(%c, %d)
    return %e
  })",
                R"(graph {
    %x = input() : f32[4]
    %y = input() : f32[4]
    %a = add(%x, %y)
    %c = exp(%a)
    %e = sub(%c, %c)
    return %e
  })");
}

TEST(Cse, ComparesAttributesByContent) {
  Cse pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %a = constant(){value=f32[2] {1.0, 2.0}}
    %b = constant(){value=f32[2] {1.0, 2.0}}
    %s = reduce_sum(%x){axes=[0]}
    %t = add(%s, %a)
    %u = add(%t, %b)
    return %u
  })",
                R"(graph {
    %x = input() : f32[2,2]
    %a = constant(){value=f32[2] {1.0, 2.0}}
    %s = reduce_sum(%x){axes=[0]}
    %t = add(%s, %a)
    %u = add(%t, %a)
    return %u
  })");
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[2,2]
    %a = reduce_sum(%x){axes=[0]}
    %b = reduce_sum(%x){axes=[1]}
    %c = reduce_max(%x){axes=[1]}
    %d = sub(%a, %b)
    %e = sub(%b, %a)
    return %c, %d, %e
  })");
}

TEST(Cse, StopsAtBarriers) {
  Cse pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[4]
    %y = exp(%x)
    %again = barrier(%x, %y)
    %once_more = barrier(%x, %y)
    %z = exp(%again)
    %w = exp(%once_more)
    return %y, %z, %w
  })");
}

}  // namespace
}  // namespace trencadis::compiler
