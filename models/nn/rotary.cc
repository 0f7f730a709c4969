#include "models/nn/rotary.h"

#include <cmath>

#include "runtime/lazy/ops.h"

namespace trencadis::nn {

using lazy::Tensor;

std::vector<float> InverseFrequencies(double theta, int64_t head_dim) {
  std::vector<float> frequencies;
  for (int64_t i = 0; i < head_dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(head_dim);
    frequencies.push_back(1.0f / static_cast<float>(std::pow(theta, exponent)));
  }
  return frequencies;
}

RotaryTable::RotaryTable(lazy::Context& context, const std::vector<float>& inverse_frequencies,
                         int64_t length) {
  const auto half = static_cast<int64_t>(inverse_frequencies.size());
  Literal cos({DType::kF32, Shape{length, 2 * half}});
  Literal signed_sin(cos.type());
  for (int64_t position = 0; position < length; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(position) * inverse_frequencies[i];
      const int64_t first = position * 2 * half + i;
      cos.data<float>()[first] = cos.data<float>()[first + half] = std::cos(angle);
      signed_sin.data<float>()[first] = -std::sin(angle);
      signed_sin.data<float>()[first + half] = std::sin(angle);
    }
  }
  cos_ = Tensor::FromHost(context, cos);
  signed_sin_ = Tensor::FromHost(context, signed_sin);
}

RotaryAngles RotaryTable::Range(int64_t start, int64_t count) const {
  const auto rows = [&](const Tensor& table) {
    return lazy::Reshape(lazy::Slice(table, 0, start, start + count), {1, count, 1, table.dim(1)});
  };
  return {rows(cos_), rows(signed_sin_)};
}

RotaryAngles RotaryTable::At(const Tensor& positions) const {
  const auto rows = [&](const Tensor& table) {
    return lazy::Reshape(lazy::Take(table, positions),
                         {positions.dim(0), positions.dim(1), 1, table.dim(1)});
  };
  return {rows(cos_), rows(signed_sin_)};
}

Tensor ApplyRotary(const Tensor& x, const RotaryAngles& angles) {
  const Tensor wide = lazy::Convert(x, DType::kF32);
  const int64_t half = x.dim(3) / 2;
  const Tensor halves = lazy::Reshape(wide, {x.dim(0), x.dim(1), x.dim(2), 2, half});
  const Tensor swapped = lazy::Reshape(lazy::Reverse(halves, 3), x.shape().dims());
  const Tensor rotated =
      lazy::Add(lazy::Mul(wide, angles.cos), lazy::Mul(swapped, angles.signed_sin));
  return lazy::Convert(rotated, x.dtype());
}

}  // namespace trencadis::nn
