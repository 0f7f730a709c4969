#include "runtime/kernels/indexing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/core/literal.h"

namespace trencadis::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
Ids IdsOf(const std::vector<T>& ids) {
  return {ids.data(), DTypeOf<T>(), static_cast<int64_t>(ids.size())};
}

TEST(Take, GathersRows) {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21};
  const std::vector<int32_t> ids = {2, 0, 2};
  std::vector<float> result(6);
  ASSERT_TRUE(Take(table.data(), 3, 8, IdsOf(ids), result.data()).ok());
  EXPECT_THAT(result, ElementsAre(20, 21, 0, 1, 20, 21));
  const std::vector<int64_t> wide = {1};
  result.resize(2);
  ASSERT_TRUE(Take(table.data(), 3, 8, IdsOf(wide), result.data()).ok());
  EXPECT_THAT(result, ElementsAre(10, 11));
}

TEST(Take, NamesTheBadId) {
  const std::vector<float> table(6);
  std::vector<float> result(4, 7);
  for (int32_t bad : {3, -1}) {
    const std::vector<int32_t> ids = {1, bad};
    const absl::Status status = Take(table.data(), 3, 8, IdsOf(ids), result.data());
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("id ", bad, " at position 1")));
    EXPECT_THAT(std::string(status.message()), HasSubstr("3 rows"));
  }
  EXPECT_THAT(result, ElementsAre(7, 7, 7, 7));
}

TEST(ScatterAdd, AddsInOrderWhateverTheThreads) {
  constexpr int64_t kRows = 37, kWidth = 600, kCount = 500;
  std::mt19937 random(1);
  std::vector<int64_t> ids(kCount);
  for (int64_t& id : ids) id = random() % (kRows - 1);  // the last row gets nothing
  std::vector<float> updates(kCount * kWidth);
  std::normal_distribution<float> normal;
  for (float& x : updates) x = normal(random);
  std::vector<float> want(kRows * kWidth);
  for (int64_t i = 0; i < kCount; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) want[ids[i] * kWidth + j] += updates[i * kWidth + j];
  }
  for (int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    std::vector<float> got(kRows * kWidth, 5);
    ASSERT_TRUE(
        ScatterAdd(IdsOf(ids), updates.data(), DType::kF32, kRows, kWidth, got.data(), DType::kF32)
            .ok());
    EXPECT_EQ(got, want);
    std::vector<BF16> rounded(kRows * kWidth);
    ASSERT_TRUE(ScatterAdd(IdsOf(ids), updates.data(), DType::kF32, kRows, kWidth, rounded.data(),
                           DType::kBF16)
                    .ok());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(rounded[i].bits, ToBF16(want[i]).bits);
  }
}

TEST(ScatterAdd, BF16UpdatesAddUpInF32) {
  const std::vector<int32_t> ids(257, 1);
  const std::vector<BF16> ones(257, ToBF16(1));
  std::vector<float> result(2);
  ASSERT_TRUE(
      ScatterAdd(IdsOf(ids), ones.data(), DType::kBF16, 2, 1, result.data(), DType::kF32).ok());
  EXPECT_THAT(result, ElementsAre(0, 257));
  const std::vector<int32_t> bad = {2};
  EXPECT_EQ(
      ScatterAdd(IdsOf(bad), ones.data(), DType::kBF16, 2, 1, result.data(), DType::kF32).code(),
      absl::StatusCode::kOutOfRange);
}

TEST(DynamicSlice, MiddleAxis) {
  std::vector<int32_t> x(2 * 4 * 3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i);
  std::vector<int32_t> result(2 * 2 * 3);
  ASSERT_TRUE(DynamicSlice(x.data(), {2, 4, 12}, 1, 2, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 19, 20));
  for (int32_t start : {-1, 3}) {
    const absl::Status status = DynamicSlice(x.data(), {2, 4, 12}, start, 2, result.data());
    EXPECT_THAT(std::string(status.message()), HasSubstr("start in 0 to 2"));
  }
}

TEST(DynamicUpdateSlice, CopiesOrUpdatesInPlace) {
  std::vector<uint8_t> x = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<uint8_t> update = {90, 91};
  std::vector<uint8_t> result(8);
  ASSERT_TRUE(DynamicUpdateSlice(x.data(), {2, 4, 1}, update.data(), 1, 3, result.data()).ok());
  EXPECT_THAT(result, ElementsAre(1, 2, 3, 90, 5, 6, 7, 91));
  ASSERT_TRUE(DynamicUpdateSlice(x.data(), {2, 4, 1}, update.data(), 1, 0, x.data()).ok());
  EXPECT_THAT(x, ElementsAre(90, 2, 3, 4, 91, 6, 7, 8));
  EXPECT_EQ(DynamicUpdateSlice(x.data(), {2, 4, 1}, update.data(), 1, 4, x.data()).code(),
            absl::StatusCode::kOutOfRange);
}

template <typename T>
std::vector<int32_t> ArgmaxOf(const std::vector<T>& x, int64_t outer, int64_t axis, int64_t inner) {
  std::vector<int32_t> result(outer * inner);
  Argmax(x.data(), DTypeOf<T>(), outer, axis, inner, result.data());
  return result;
}

TEST(Argmax, FirstOfTheLargest) {
  EXPECT_THAT(ArgmaxOf<float>({1, 3, 3, -1, -2, -1}, 2, 3, 1), ElementsAre(1, 0));
  EXPECT_THAT(ArgmaxOf<float>({1, 3, 3, -1, -2, -1}, 1, 3, 2), ElementsAre(1, 0));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(ArgmaxOf<float>({1, nan, INFINITY, nan}, 1, 4, 1), ElementsAre(1));
  EXPECT_THAT(ArgmaxOf<float>({nan, 1}, 1, 2, 1), ElementsAre(0));
  EXPECT_THAT(ArgmaxOf<int64_t>({(int64_t{1} << 60), (int64_t{1} << 60) + 1}, 1, 2, 1),
              ElementsAre(1));
  EXPECT_THAT(ArgmaxOf<BF16>({ToBF16(-2), ToBF16(-1)}, 1, 2, 1), ElementsAre(1));
  EXPECT_THAT(ArgmaxOf<int32_t>({-5, -4, 9}, 1, 3, 1), ElementsAre(2));
  EXPECT_THAT(ArgmaxOf<uint8_t>({200, 100}, 1, 2, 1), ElementsAre(0));
}

}  // namespace
}  // namespace trencadis::kernels
