#include "runtime/core/literal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace trencadis {
namespace {

// C++ leaves conversions out of range undefined.
template <typename Int>
Int SaturatingCast(double value) {
  if (std::isnan(value)) return 0;
  // The largest i64 is no double; the first double beyond it is its successor.
  constexpr double kBeyond = static_cast<double>(std::numeric_limits<Int>::max() / 2 + 1) * 2;
  if (value >= kBeyond) return std::numeric_limits<Int>::max();
  if (value <= static_cast<double>(std::numeric_limits<Int>::min())) {
    return std::numeric_limits<Int>::min();
  }
  return static_cast<Int>(value);
}

}  // namespace

double Literal::AsDouble(int64_t index) const {
  switch (dtype()) {
    case DType::kF32:
      return data<float>()[index];
    case DType::kBF16:
      return ToF32(data<BF16>()[index]);
    case DType::kI32:
      return data<int32_t>()[index];
    case DType::kI64:
      return static_cast<double>(data<int64_t>()[index]);
    case DType::kBool:
      return data<bool>()[index] ? 1 : 0;
    case DType::kU8:
      return data<uint8_t>()[index];
  }
  return 0;
}

void Literal::SetDouble(int64_t index, double value) {
  switch (dtype()) {
    case DType::kF32:
      data<float>()[index] = static_cast<float>(value);
      break;
    case DType::kBF16:
      data<BF16>()[index] = ToBF16(static_cast<float>(value));
      break;
    case DType::kI32:
      data<int32_t>()[index] = SaturatingCast<int32_t>(value);
      break;
    case DType::kI64:
      data<int64_t>()[index] = SaturatingCast<int64_t>(value);
      break;
    case DType::kBool:
      data<bool>()[index] = value != 0;
      break;
    case DType::kU8:
      data<uint8_t>()[index] = SaturatingCast<uint8_t>(value);
      break;
  }
}

Literal Literal::ConvertTo(DType dtype) const {
  if (dtype == this->dtype()) return *this;
  Literal result({dtype, shape()});
  for (int64_t i = 0; i < num_elements(); ++i) result.SetDouble(i, AsDouble(i));
  return result;
}

std::string Literal::ToString(int max_elements) const {
  std::string text = absl::StrCat(type_.ToString(), " {");
  const int64_t shown = std::min<int64_t>(num_elements(), max_elements);
  for (int64_t i = 0; i < shown; ++i) absl::StrAppend(&text, i ? ", " : "", AsDouble(i));
  return absl::StrCat(text, shown < num_elements() ? ", ...}" : "}");
}

}  // namespace trencadis
