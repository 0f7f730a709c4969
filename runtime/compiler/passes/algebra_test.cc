#include "runtime/compiler/passes/algebra.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

// Expects `before`, one or more lines that define %y from %x and %z, to become `after`.
void ExpectTensorRule(absl::string_view type, absl::string_view before, absl::string_view after) {
  Algebra pass;
  const auto graph = [&](absl::string_view lines) {
    return absl::StrCat("graph {\n%x = input() : ", type, "\n%z = input() : ", type, "\n", lines,
                        "\n}");
  };
  ExpectRewrite(pass, graph(before), graph(after));
}

TEST(Algebra, NeutralElements) {
  ExpectTensorRule("f32[3]", R"(%c = constant(){value=f32[] {1.0}}
                                %b = broadcast(%c){shape=[3], axes=[]}
                                %y = mul(%x, %b)
                                %w = div(%z, %b)
                                return %y, %w)",
                   "return %x, %z");
  ExpectTensorRule("f32[3]", R"(%c = constant(){value=f32[] {-0.0}}
                                %b = broadcast(%c){shape=[3], axes=[]}
                                %y = add(%x, %b)
                                return %y)",
                   "return %x");
  ExpectTensorRule("i32[]", R"(%c = constant(){value=i32[] {0}}
                               %y = add(%x, %c)
                               %w = sub(%z, %c)
                               %p = mul(%x, %c)
                               return %y, %w, %p)",
                   "%c = constant(){value=i32[] {0}}\nreturn %x, %z, %c");
}

TEST(Algebra, PositiveZeroIsNotNeutralForFloats) {
  Algebra pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[]
    %c = constant(){value=f32[] {0.0}}
    %y = add(%x, %c)
    %z = mul(%x, %c)
    return %y, %z
  })");
}

TEST(Algebra, NegationsMoveIntoSumsAndProducts) {
  ExpectTensorRule("f32[3]", "%n = neg(%z)\n%y = add(%x, %n)\nreturn %y",
                   "%y = sub(%x, %z)\nreturn %y");
  ExpectTensorRule("f32[3]", "%n = neg(%x)\n%y = add(%n, %z)\nreturn %y",
                   "%y = sub(%z, %x)\nreturn %y");
  ExpectTensorRule("bf16[3]", "%n = neg(%z)\n%y = sub(%x, %n)\nreturn %y",
                   "%y = add(%x, %z)\nreturn %y");
  ExpectTensorRule("f32[3]", "%n = neg(%z)\n%m = neg(%x)\n%y = mul(%m, %n)\nreturn %y",
                   "%y = mul(%x, %z)\nreturn %y");
  ExpectTensorRule("f32[3]", "%n = neg(%z)\n%m = neg(%n)\n%a = abs(%n)\nreturn %m, %a",
                   "%a = abs(%z)\nreturn %z, %a");
}

TEST(Algebra, DivisionByAPowerOfTwoMultiplies) {
  ExpectTensorRule("f32[]", R"(%c = constant(){value=f32[] {8.0}}
                               %y = div(%x, %c)
                               return %y)",
                   R"(%c = constant(){value=f32[] {0.125}}
                      %y = mul(%x, %c)
                      return %y)");
  Algebra pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[]
    %c = constant(){value=f32[] {3.0}}
    %y = div(%x, %c)
    return %y
  })");
}

TEST(Algebra, ExactConversionsCancel) {
  ExpectTensorRule("bf16[3]", R"(%w = convert(%x){dtype=f32}
                                 %y = convert(%w){dtype=bf16}
                                 %i = convert(%w){dtype=i32}
                                 return %y, %i)",
                   "%i = convert(%x){dtype=i32}\nreturn %x, %i");
  Algebra pass;
  ExpectNoRewrite(pass, R"(graph {
    %x = input() : f32[3]
    %w = convert(%x){dtype=bf16}
    %y = convert(%w){dtype=f32}
    return %y
  })");
}

TEST(Algebra, SelectsThatDoNotSelect) {
  ExpectTensorRule("f32[]", R"(%c = constant(){value=bool[] {true}}
                               %y = select(%c, %x, %z)
                               %p = lt(%x, %z)
                               %w = select(%p, %z, %z)
                               %m = max(%x, %x)
                               return %y, %w, %m)",
                   "return %x, %z, %x");
}

}  // namespace
}  // namespace trencadis::compiler
