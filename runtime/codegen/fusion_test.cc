#include "runtime/codegen/fusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/codegen/fusion_testing.h"

namespace trencadis::codegen {
namespace {

using testing::ExpectNear;
using testing::ParseBody;
using testing::RandomInputs;
using testing::Reference;
using testing::Run;

constexpr double kTolerance = 3e-6;

Target HostTarget() { return Target::Host(); }

// On the host and on both lesser levels, in one piece and in several, which must agree bit for bit.
void Check(absl::string_view text, double tolerance = kTolerance, int seed = 1) {
  SCOPED_TRACE(text);
  const ir::Graph body = ParseBody(text);
  ASSERT_TRUE(CheckFusible(body).ok()) << CheckFusible(body);
  const std::vector<Literal> inputs = RandomInputs(body, seed);
  const std::vector<Literal> expected = Reference(body, inputs);
  for (const Target& target : {HostTarget(), Target::HostWithCpu("x86-64-v3").value(),
                               Target::HostWithCpu("x86-64-v2").value()}) {
    SCOPED_TRACE(target.ToString());
    const auto whole = Run(body, target, inputs);
    ASSERT_TRUE(whole.ok()) << whole.status();
    ExpectNear(*whole, expected, tolerance);
    const auto split = Run(body, target, inputs, {.pieces = 3});
    ASSERT_TRUE(split.ok()) << split.status();
    EXPECT_EQ(*whole, *split) << "the split of units shows";
  }
}

std::string With(absl::string_view text,
                 std::vector<std::pair<absl::string_view, std::string>> replacements) {
  return absl::StrReplaceAll(text, replacements);
}

TEST(ElementwiseTest, AddsAtEverySizeAndType) {
  for (const char* dtype : {"f32", "bf16", "i32", "i64", "u8"}) {
    for (int size : {0, 1, 7, 15, 16, 17, 33, 1000, 5000}) {
      Check(With(R"(graph {
        %0 = input() : D[N]
        %1 = input() : D[N]
        %2 = add(%0, %1)
        return %2
      })",
                 {{"D", dtype}, {"N", absl::StrCat(size)}}));
    }
  }
}

TEST(ElementwiseTest, ComputesScalars) {
  Check(R"(graph {
    %0 = input() : f32[]
    %1 = input() : f32[1,1]
    %2 = reshape(%1){shape=[]}
    %3 = mul(%0, %2)
    return %3
  })");
}

TEST(RowTest, Softmax) {
  for (int size : {1, 3, 16, 17, 64, 100, 1000, 5000}) {
    Check(With(R"(graph {
      %0 = input() : f32[5,N]
      %1 = reduce_max(%0){axes=[1], keep_dims=true}
      %2 = broadcast(%1){axes=[0, 1], shape=[5, N]}
      %3 = sub(%0, %2)
      %4 = exp(%3)
      %5 = reduce_sum(%4){axes=[1], keep_dims=false}
      %6 = broadcast(%5){axes=[0], shape=[5, N]}
      %7 = div(%4, %6)
      return %7, %5
    })",
               {{"N", absl::StrCat(size)}}),
          1e-5);
  }
}

TEST(ColumnTest, SumsOverLeadingAndMiddleAxes) {
  for (int rows : {1, 3, 4, 64, 65, 300}) {
    for (int columns : {1, 5, 16, 33, 5000}) {
      Check(With(R"(graph {
        %0 = input() : f32[2,R,C]
        %1 = reduce_sum(%0){axes=[1], keep_dims=false}
        return %1
      })",
                 {{"R", absl::StrCat(rows)}, {"C", absl::StrCat(columns)}}),
            1e-4);
    }
  }
}

TEST(RowTest, SumsToScalar) {
  for (int size : {1, 100, 4096, 4097, 20000}) {
    Check(With(R"(graph {
      %0 = input() : f32[N]
      %1 = mul(%0, %0)
      %2 = reduce_sum(%1){axes=[0], keep_dims=false}
      %3 = sqrt(%2)
      return %3
    })",
               {{"N", absl::StrCat(size)}}),
          1e-5);
  }
}

}  // namespace
}  // namespace trencadis::codegen
