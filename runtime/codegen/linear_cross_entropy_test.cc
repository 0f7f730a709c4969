#include "runtime/codegen/linear_cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace trencadis::codegen {
namespace {

// Values exact in both dtypes, and their bytes in one.
struct Tensor {
  Tensor(DType dtype, int64_t n, double scale, int seed) : bytes(n * ByteSize(dtype)) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, scale);
    for (int64_t i = 0; i < n; ++i) {
      const BF16 value = ToBF16(static_cast<float>(normal(random)));
      values.push_back(ToF32(value));
      if (dtype == DType::kF32) {
        reinterpret_cast<float*>(bytes.data())[i] = ToF32(value);
      } else {
        reinterpret_cast<BF16*>(bytes.data())[i] = value;
      }
    }
  }
  std::vector<double> values;
  std::vector<char> bytes;
};

struct Results {
  double loss = 0;
  int32_t correct = 0;
  std::vector<double> lse, dx, dw;
};

Results Reference(const LinearCrossEntropySpec& spec, const std::vector<double>& x,
                  const std::vector<double>& w, const std::vector<int32_t>& labels) {
  const int64_t n = spec.rows, d = spec.width, v = spec.vocabulary;
  const double e = spec.label_smoothing;
  Results r;
  r.lse.resize(n);
  r.dx.resize(n * d);
  r.dw.resize(v * d);
  for (int64_t i = 0; i < n; ++i) {
    if (labels[i] == spec.ignore_index) continue;
    std::vector<double> logits(v);
    double sum = 0, mean = 0;
    for (int64_t j = 0; j < v; ++j) {
      for (int64_t k = 0; k < d; ++k) logits[j] += x[i * d + k] * w[j * d + k];
      sum += std::exp(logits[j]);
      mean += logits[j] / v;
    }
    r.lse[i] = std::log(sum);
    r.correct += std::max_element(logits.begin(), logits.end()) - logits.begin() == labels[i];
    r.loss += (1 - e) * (r.lse[i] - logits[labels[i]]) + e * (r.lse[i] - mean);
    for (int64_t j = 0; j < v; ++j) {
      const double g =
          std::exp(logits[j]) / sum - (j == labels[i] ? 1 - e : 0) - e / static_cast<double>(v);
      for (int64_t k = 0; k < d; ++k) {
        r.dx[i * d + k] += g * w[j * d + k];
        r.dw[j * d + k] += g * x[i * d + k];
      }
    }
  }
  return r;
}

struct Outputs {
  float loss = -1;
  int32_t correct = -1;
  std::vector<float> lse, dw;
  std::vector<char> dx;
  bool operator==(const Outputs&) const = default;
};

absl::StatusOr<Outputs> Execute(const LinearCrossEntropySpec& spec, const Target& target,
                                const Tensor& x, const Tensor& w,
                                const std::vector<int32_t>& labels) {
  auto op = LinearCrossEntropy::Create(spec, target);
  if (!op.ok()) return op.status();
  std::vector<char> scratch((*op)->scratch_bytes() + 64, '\x7f');
  void* aligned =
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  Outputs out;
  out.lse.assign(spec.rows, -9);
  out.dx.assign(spec.rows * spec.width * ByteSize(spec.dtype), '\x7f');
  out.dw.assign(spec.needs_dw ? spec.vocabulary * spec.width : 0, -9);
  const absl::Status status = (*op)->Execute(
      x.bytes.data(), w.bytes.data(), labels.data(),
      {&out.loss, out.lse.data(), &out.correct, out.dx.data(), out.dw.data()}, aligned);
  if (!status.ok()) return status;
  return out;
}

double Norm(const std::vector<double>& x) {
  double sum = 0;
  for (double value : x) sum += value * value;
  return std::sqrt(sum);
}

// Tolerances are relative norms: f32 rounds sums of V terms, bf16 each gradient of a logit to 8
// bits.
void ExpectRight(const LinearCrossEntropySpec& spec, const std::vector<int32_t>& labels,
                 const Target& target) {
  const Tensor x(spec.dtype, spec.rows * spec.width, 1.0, 1);
  const Tensor w(spec.dtype, spec.vocabulary * spec.width, 0.5, 2);
  const Results want = Reference(spec, x.values, w.values, labels);
  const auto got = Execute(spec, target, x, w, labels);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_NEAR(got->loss, want.loss, 2e-6 * std::abs(want.loss) + 1e-6);
  for (int64_t i = 0; i < spec.rows; ++i) {
    EXPECT_NEAR(got->lse[i], want.lse[i], 2e-6 * std::abs(want.lse[i]) + 1e-6);
  }
  if (!spec.with_grad) {
    EXPECT_EQ(got->correct, want.correct);
    return;
  }
  const double tolerance = spec.dtype == DType::kF32 ? 2e-6 : 6e-3;
  std::vector<double> difference;
  for (size_t i = 0; i < want.dx.size(); ++i) {
    const double value = spec.dtype == DType::kF32
                             ? reinterpret_cast<const float*>(got->dx.data())[i]
                             : ToF32(reinterpret_cast<const BF16*>(got->dx.data())[i]);
    difference.push_back(value - want.dx[i]);
  }
  EXPECT_LE(Norm(difference), tolerance * Norm(want.dx));
  if (!spec.needs_dw) return;
  difference.clear();
  for (size_t i = 0; i < want.dw.size(); ++i) difference.push_back(got->dw[i] - want.dw[i]);
  EXPECT_LE(Norm(difference), tolerance * Norm(want.dw));
}

std::vector<int32_t> Labels(int64_t rows, int64_t vocabulary, int every_ignored) {
  std::mt19937 random(3);
  std::vector<int32_t> labels(rows);
  for (int64_t i = 0; i < rows; ++i) {
    labels[i] = every_ignored && i % every_ignored == 0
                    ? -100
                    : static_cast<int32_t>(random() % vocabulary);
  }
  return labels;
}

LinearCrossEntropySpec Spec(DType dtype, int64_t rows, int64_t width, int64_t vocabulary) {
  LinearCrossEntropySpec spec;
  spec.dtype = dtype;
  spec.rows = rows;
  spec.width = width;
  spec.vocabulary = vocabulary;
  spec.with_grad = true;
  spec.needs_dw = true;
  return spec;
}

class OnTargets : public testing::TestWithParam<const char*> {
 protected:
  Target target() const {
    return GetParam() == std::string("host") ? Target::Host() : *Target::HostWithCpu(GetParam());
  }
};

TEST_P(OnTargets, ShapesAndModes) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    for (int64_t rows : {1, 5, 40, 600}) {
      for (int ignored : {0, 2, 1}) {
        for (int mode = 0; mode < 3; ++mode) {
          LinearCrossEntropySpec spec = Spec(dtype, rows, 24, 77);
          spec.with_grad = mode > 0;
          spec.needs_dw = mode > 1;
          SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " rows ", rows, " ignored 1/", ignored,
                                    " mode ", mode));
          ExpectRight(spec, Labels(rows, 77, ignored), target());
        }
      }
    }
  }
}

TEST_P(OnTargets, LabelSmoothing) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    LinearCrossEntropySpec spec = Spec(dtype, 50, 16, 33);
    spec.label_smoothing = 0.1;
    ExpectRight(spec, Labels(50, 33, 3), target());
  }
}

INSTANTIATE_TEST_SUITE_P(LinearCrossEntropy, OnTargets,
                         testing::Values("host", "x86-64-v3", "x86-64-v2"));

TEST(LinearCrossEntropy, ThreadsGiveTheSameBits) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const LinearCrossEntropySpec spec = Spec(dtype, 700, 64, 1000);
    const Tensor x(dtype, spec.rows * spec.width, 1.0, 1);
    const Tensor w(dtype, spec.vocabulary * spec.width, 0.2, 2);
    const std::vector<int32_t> labels = Labels(spec.rows, spec.vocabulary, 5);
    Target target = Target::Host();
    std::vector<Outputs> outputs;
    for (int threads : {1, 2}) {
      target.threads = threads;
      omp_set_num_threads(threads);
      auto out = Execute(spec, target, x, w, labels);
      ASSERT_TRUE(out.ok()) << out.status();
      outputs.push_back(*std::move(out));
    }
    EXPECT_TRUE(outputs[0] == outputs[1]);
  }
}

TEST(LinearCrossEntropy, LargeLogitsDoNotOverflow) {
  LinearCrossEntropySpec spec = Spec(DType::kF32, 1, 1, 3);
  Tensor x(DType::kF32, 1, 0, 1), w(DType::kF32, 3, 0, 1);
  reinterpret_cast<float*>(x.bytes.data())[0] = 1000;
  const float weights[] = {1, -1, 0.5};
  std::copy_n(weights, 3, reinterpret_cast<float*>(w.bytes.data()));
  auto out = Execute(spec, Target::Host(), x, w, {2});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->loss, 500);
  EXPECT_EQ(out->lse[0], 1000);
}

TEST(LinearCrossEntropy, TheFirstOfEqualLogitsIsTheAnswer) {
  LinearCrossEntropySpec spec = Spec(DType::kF32, 4, 1, 3);
  spec.with_grad = spec.needs_dw = false;
  const Tensor x(DType::kF32, 4, 0, 1), w(DType::kF32, 3, 0, 1);  // all logits are 0
  const auto out = Execute(spec, Target::Host(), x, w, {0, 1, -100, 0});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->correct, 2);
}

TEST(LinearCrossEntropy, NamesTheBadLabel) {
  const LinearCrossEntropySpec spec = Spec(DType::kF32, 3, 2, 5);
  const Tensor x(DType::kF32, 6, 1, 1), w(DType::kF32, 10, 1, 1);
  for (int32_t bad : {5, -1}) {
    const auto out = Execute(spec, Target::Host(), x, w, {-100, 4, bad});
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(out.status().message()),
                testing::HasSubstr(absl::StrCat("label ", bad, " of row 2")));
  }
  LinearCrossEntropySpec wrong = spec;
  wrong.with_grad = false;
  EXPECT_FALSE(LinearCrossEntropy::Create(wrong, Target::Host()).ok());
  wrong = spec;
  wrong.dtype = DType::kI32;
  EXPECT_FALSE(LinearCrossEntropy::Create(wrong, Target::Host()).ok());
}

}  // namespace
}  // namespace trencadis::codegen
