#include "runtime/compiler/passes/dce.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

TEST(Dce, DropsWhatNoOutputNeedsAndKeepsInputs) {
  Dce pass;
  ExpectRewrite(pass, R"(graph {
    %x = input() : f32[4]
    %unused = input() : f32[4]
    %dead = exp(%x)
    %also = neg(%dead)
    %y = add(%x, %x)
    return %y
  })",
                R"(graph {
    %x = input() : f32[4]
    %unused = input() : f32[4]
    %y = add(%x, %x)
    return %y
  })");
}

TEST(Dce, LeavesALiveGraphAlone) {
  Dce pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[4]
    %y = exp(%x)
    return %y, %x
  })");
}

}  // namespace
}  // namespace trencadis::compiler
