#include "runtime/kernels/vector_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/core/dtype.h"

namespace trencadis::kernels {
namespace {

struct Set {
  std::string name;
  const VectorKernels* kernels;
};

// The sets that this host runs.
std::vector<Set> Sets() {
  std::vector<Set> sets = {{"v2", &VectorKernelsFor("x86-64-v2", false)}};
  if (__builtin_cpu_supports("x86-64-v3")) {
    sets.push_back({"v3", &VectorKernelsFor("x86-64-v3", false)});
  }
  if (__builtin_cpu_supports("x86-64-v4")) {
    sets.push_back({"v4", &VectorKernelsFor("x86-64-v4", false)});
    if (__builtin_cpu_supports("avx512bf16")) {
      sets.push_back({"v4+bf16", &VectorKernelsFor("x86-64-v4", true)});
    }
  }
  return sets;
}

std::vector<float> Random(int64_t n, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& value : x) value = ToF32(ToBF16(normal(random)));  // exact in both types
  return x;
}

std::vector<uint16_t> Narrow(const std::vector<float>& x) {
  std::vector<uint16_t> bits;
  for (float value : x) bits.push_back(ToBF16(value).bits);
  return bits;
}

constexpr int64_t kSizes[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 100, 2047, 2048, 2049, 5000};

TEST(VectorKernels, RowProducts) {
  for (const Set& set : Sets()) {
    SCOPED_TRACE(set.name);
    for (int64_t k : {0, 1, 5, 16, 33, 64, 99}) {
      constexpr int64_t kRows = 7, kColumns = 10, kGap = 3;
      const std::vector<float> x = Random(kRows * (k + kGap), 1);
      const std::vector<float> w = Random(kColumns * (k + kGap), 2);
      const std::vector<uint16_t> xh = Narrow(x), wh = Narrow(w);
      std::vector<float> f32(kRows * 11), bf16(kRows * 11);
      set.kernels->row_products_f32(x.data(), k + kGap, w.data(), k + kGap, f32.data(), 11, kRows,
                                    kColumns, k);
      set.kernels->row_products_bf16(xh.data(), k + kGap, wh.data(), k + kGap, bf16.data(), 11,
                                     kRows, kColumns, k);
      for (int64_t m = 0; m < kRows; ++m) {
        for (int64_t n = 0; n < kColumns; ++n) {
          double want = 0;
          for (int64_t i = 0; i < k; ++i) {
            want += static_cast<double>(x[m * (k + kGap) + i]) * w[n * (k + kGap) + i];
          }
          EXPECT_NEAR(f32[m * 11 + n], want, 2e-5);
          EXPECT_NEAR(bf16[m * 11 + n], want, 2e-5);
        }
        EXPECT_EQ(f32[m * 11 + 10], 0);
      }
    }
  }
}

TEST(VectorKernels, MaximaAndSums) {
  for (const Set& set : Sets()) {
    SCOPED_TRACE(set.name);
    for (int64_t n : kSizes) {
      const std::vector<float> x = Random(n, 3);
      float largest = -std::numeric_limits<float>::infinity();
      double sum = 0;
      double exp_sum = 0;
      for (float value : x) {
        largest = std::max(largest, value);
        sum += value;
        exp_sum += std::exp(static_cast<double>(value) - 0.5);
      }
      EXPECT_EQ(set.kernels->max_f32(x.data(), n), largest);
      EXPECT_NEAR(set.kernels->sum_f32(x.data(), n), sum, 1e-3);
      std::vector<float> stored = x;
      EXPECT_NEAR(set.kernels->exp_sum_f32(stored.data(), n, 0.5f, false), exp_sum, 1e-6 * exp_sum);
      EXPECT_EQ(stored, x);
      EXPECT_NEAR(set.kernels->exp_sum_f32(stored.data(), n, 0.5f, true), exp_sum, 1e-6 * exp_sum);
      for (int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(stored[i], std::exp(x[i] - 0.5f), 1e-6 * std::exp(x[i] - 0.5f));
      }
    }
  }
}

// The last elements, which fill no vector, get the bits that they would get elsewhere.
TEST(VectorKernels, TailsMatch) {
  for (const Set& set : Sets()) {
    SCOPED_TRACE(set.name);
    const std::vector<float> x = Random(48, 4);
    std::vector<float> whole = x;
    set.kernels->exp_sum_f32(whole.data(), 48, 0.25f, true);
    for (int64_t n = 0; n < 48; ++n) {
      std::vector<float> part = x;
      set.kernels->exp_sum_f32(part.data(), n, 0.25f, true);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(part[i], whole[i]);
    }
  }
}

TEST(VectorKernels, AffineAndRounding) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Set& set : Sets()) {
    SCOPED_TRACE(set.name);
    for (int64_t n : kSizes) {
      std::vector<float> x = Random(n, 5);
      for (int64_t i = 0; i < n; ++i) x[i] = x[i] * 1.001f;
      if (n > 2) x[1] = nan;
      if (n > 2) x[2] = INFINITY;
      std::vector<float> y(n);
      set.kernels->affine_f32(x.data(), n, 2.0f, 0.0f, y.data());
      std::vector<float> in_place = x;
      auto* bits = reinterpret_cast<uint16_t*>(in_place.data());
      set.kernels->affine_bf16(in_place.data(), n, 2.0f, 0.0f, bits);
      std::vector<float> wide(n);
      set.kernels->widen_bf16(bits, n, wide.data());
      for (int64_t i = 0; i < n; ++i) {
        if (std::isnan(x[i])) {
          EXPECT_TRUE(std::isnan(y[i]) && std::isnan(wide[i]));
          continue;
        }
        EXPECT_EQ(y[i], x[i] * 2);
        EXPECT_EQ(wide[i], ToF32(ToBF16(x[i] * 2)));
      }
    }
  }
}

}  // namespace
}  // namespace trencadis::kernels
