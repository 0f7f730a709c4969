#include "runtime/kernels/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/core/literal.h"

namespace trencadis::kernels {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Fill, EveryType) {
  std::vector<float> f32(70000);
  Fill(DType::kF32, 1.5, 70000, f32.data());
  EXPECT_THAT(f32, Each(1.5f));
  std::vector<int64_t> i64(3);
  Fill(DType::kI64, -7, 3, i64.data());
  EXPECT_THAT(i64, Each(-7));
  std::vector<int32_t> i32(3);
  Fill(DType::kI32, -7, 2, i32.data());
  EXPECT_THAT(i32, ElementsAre(-7, -7, 0));
  BF16 bf16;
  Fill(DType::kBF16, 3, 1, &bf16);
  EXPECT_EQ(ToF32(bf16), 3);
  bool truth = false;
  Fill(DType::kBool, 1, 1, &truth);
  EXPECT_TRUE(truth);
}

TEST(Concatenate, RunsSideBySide) {
  const std::vector<uint8_t> a = {1, 2, 3, 4};
  const std::vector<uint8_t> b = {5, 6};
  const std::vector<uint8_t> none;
  std::vector<uint8_t> result(6);
  Concatenate({a.data(), none.data(), b.data()}, {2, 0, 1}, 2, result.data());
  EXPECT_THAT(result, ElementsAre(1, 2, 5, 3, 4, 6));
}

TEST(Pad, EachAxis) {
  const std::vector<int32_t> x = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> result(4 * 4);
  Pad(x.data(), DType::kI32, {2, 3}, {1, 0}, {1, 1}, -1, result.data());
  EXPECT_THAT(result, ElementsAre(-1, -1, -1, -1, 1, 2, 3, -1, 4, 5, 6, -1, -1, -1, -1, -1));
  float scalar = 0;
  const float value = 4;
  Pad(&value, DType::kF32, {}, {}, {}, 0, &scalar);
  EXPECT_EQ(scalar, 4);
}

// Every permutation of a tensor with odd sizes, every element size.
template <typename T>
void ExpectTransposes() {
  const std::vector<int64_t> dims = {5, 67, 3, 41};
  std::vector<T> x(5 * 67 * 3 * 41);
  std::iota(x.begin(), x.end(), T{0});
  const std::vector<int64_t> strides = {67 * 3 * 41, 3 * 41, 41, 1};
  std::vector<int> permutation = {0, 1, 2, 3};
  do {
    std::vector<int64_t> result_dims, x_strides;
    for (int axis : permutation) {
      result_dims.push_back(dims[axis]);
      x_strides.push_back(strides[axis]);
    }
    const std::vector<int64_t>& d = result_dims;
    std::vector<T> result(x.size());
    StridedCopy(x.data(), sizeof(T), d, x_strides, {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1},
                result.data());
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t rest = i, from = 0;
      for (int axis = 3; axis >= 0; --axis) {
        from += rest % d[axis] * x_strides[axis];
        rest /= d[axis];
      }
      ASSERT_EQ(result[i], x[from]) << "element " << i;
    }
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TEST(StridedCopy, Transposes) {
  ExpectTransposes<uint8_t>();
  ExpectTransposes<uint16_t>();
  ExpectTransposes<uint32_t>();
  ExpectTransposes<uint64_t>();
}

TEST(StridedCopy, BroadcastsReversesAndSkips) {
  const std::vector<int32_t> x = {1, 2, 3, 4};
  std::vector<int32_t> result(4);
  StridedCopy(x.data() + 3, 4, {4}, {-1}, {1}, result.data());
  EXPECT_THAT(result, ElementsAre(4, 3, 2, 1));
  StridedCopy(x.data(), 4, {2, 2}, {0, 2}, {2, 1}, result.data());
  EXPECT_THAT(result, ElementsAre(1, 3, 1, 3));
  StridedCopy(x.data(), 4, {0, 4}, {4, 1}, {4, 1}, result.data());
  EXPECT_THAT(result, ElementsAre(1, 3, 1, 3));
  StridedCopy(x.data() + 1, 4, {}, {}, {}, result.data());
  EXPECT_THAT(result, ElementsAre(2, 3, 1, 3));
}

}  // namespace
}  // namespace trencadis::kernels
