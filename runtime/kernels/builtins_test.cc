#include "runtime/kernels/builtins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/core/literal.h"

namespace trencadis::kernels {
namespace {

using testing::ElementsAre;

constexpr int64_t kF32 = static_cast<int64_t>(DType::kF32);
constexpr int64_t kI32 = static_cast<int64_t>(DType::kI32);

absl::Status Call(absl::string_view name, const std::vector<int64_t>& parameters,
                  const std::vector<const void*>& operands, void* result, double value = 0) {
  auto builtin = FindBuiltin(name, parameters, operands.size());
  if (!builtin.ok()) return builtin.status();
  return (*builtin)({parameters, value, operands, result});
}

TEST(Builtins, EachRunsItsKernel) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<int32_t> ids = {2, 0};
  const int32_t one = 1;
  std::vector<float> result(4);
  EXPECT_TRUE(Call("take", {3, 8, kI32, 2}, {x.data(), ids.data()}, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(5, 6, 1, 2));
  result.resize(6);
  EXPECT_TRUE(
      Call("scatter_add", {kI32, 2, kF32, 3, 2, kF32}, {ids.data(), x.data()}, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(3, 4, 0, 0, 1, 2));
  EXPECT_TRUE(
      Call("dynamic_update_slice", {1, 3, 8, 1}, {x.data(), x.data(), &one}, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(1, 2, 1, 2, 5, 6));
  EXPECT_TRUE(Call("fill", {kF32, 6}, {}, result.data(), 8).ok());
  EXPECT_THAT(result, ElementsAre(8, 8, 8, 8, 8, 8));
  EXPECT_TRUE(Call("copy", {4, 3, 2, 1, 3, 2, 1}, {x.data()}, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_TRUE(Call("concatenate", {1, 8, 16}, {x.data() + 4, x.data()}, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(5, 6, 1, 2, 3, 4));
  result.resize(2);
  EXPECT_TRUE(Call("dynamic_slice", {1, 3, 8, 1}, {x.data(), &one}, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(3, 4));
  result.resize(3);
  EXPECT_TRUE(Call("pad", {kF32, 1, 1, 1}, {x.data()}, result.data(), 9).ok());
  EXPECT_THAT(result, ElementsAre(9, 1, 9));
  std::vector<int32_t> at(2);
  EXPECT_TRUE(Call("argmax", {kF32, 2, 3, 1}, {x.data()}, at.data()).ok());
  EXPECT_THAT(at, ElementsAre(2, 2));
}

TEST(Builtins, RefusesWhatFitsNoKernel) {
  EXPECT_FALSE(FindBuiltin("nonsense", {}, 0).ok());
  EXPECT_FALSE(FindBuiltin("take", {3, 8, kI32, 2}, 1).ok());   // an operand short
  EXPECT_FALSE(FindBuiltin("take", {3, 8, kI32}, 2).ok());      // a parameter short
  EXPECT_FALSE(FindBuiltin("take", {3, 8, kF32, 2}, 2).ok());   // ids of f32
  EXPECT_FALSE(FindBuiltin("take", {3, 8, 77, 2}, 2).ok());     // no such dtype
  EXPECT_FALSE(FindBuiltin("take", {-3, 8, kI32, 2}, 2).ok());  // negative size
  EXPECT_FALSE(FindBuiltin("copy", {3, 1, 1, 1}, 1).ok());      // element of three bytes
  EXPECT_FALSE(FindBuiltin("copy", {4, 1, 1}, 1).ok());         // lists of unequal lengths
  EXPECT_FALSE(FindBuiltin("concatenate", {1, 8}, 2).ok());     // a part without its size
}

TEST(Builtins, PassesOnTheKernelsError) {
  const std::vector<float> x(6);
  const std::vector<int32_t> ids = {3};
  std::vector<float> result(2);
  EXPECT_EQ(Call("take", {3, 8, kI32, 1}, {x.data(), ids.data()}, result.data()).code(),
            absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace trencadis::kernels
