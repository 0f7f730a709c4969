#include "runtime/compiler/passes/legalise.h"

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

class LegalisePass final : public Pass {
 public:
  absl::string_view name() const override { return "legalise"; }
  absl::StatusOr<bool> Run(ir::Graph& graph) override { return Legalise(graph); }
};

TEST(Legalise, RoundsAnF32ProductAfterwards) {
  LegalisePass pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %c = matmul(%a, %b){dtype=bf16}
    return %c
  })",
                R"(graph {
    %a = input() : f32[2,3]
    %b = input() : f32[3,4]
    %p = matmul(%a, %b)
    %c = convert(%p){dtype=bf16}
    return %c
  })");
}

TEST(Legalise, AnEmptySumIsZero) {
  LegalisePass pass;
  ExpectRewrite(pass, R"(graph {
    %a = input() : f32[2,0]
    %b = input() : f32[0,4]
    %c = matmul(%a, %b)
    return %c
  })",
                R"(graph {
    %a = input() : f32[2,0]
    %b = input() : f32[0,4]
    %z = constant(){value=f32[] {0.0}}
    %c = broadcast(%z){shape=[2,4], axes=[]}
    return %c
  })");
}

}  // namespace
}  // namespace trencadis::compiler
