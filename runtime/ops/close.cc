#include "runtime/ops/close.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace trencadis::ops {
namespace {

// One unit in the last of bf16's 8 significant bits, at most.
constexpr double kBf16Unit = 0x1p-7;

bool IsClose(double got, double want, Tolerance tolerance) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::fabs(got - want) <= tolerance.absolute + tolerance.relative * std::fabs(want);
}

std::string ElementName(const Literal& literal, int64_t flat) {
  std::string index;
  for (int64_t stride : literal.shape().Strides()) {
    absl::StrAppend(&index, index.empty() ? "" : ",", flat / stride);
    flat %= stride;
  }
  return absl::StrCat("[", index, "]");
}

}  // namespace

absl::Status CheckClose(const Literal& got, const Literal& want, Tolerance tolerance) {
  if (got.type() != want.type()) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", got.type().ToString(), "; wanted ", want.type().ToString()));
  }
  if (want.dtype() == DType::kBF16) tolerance.relative += kBf16Unit;
  if (!IsFloat(want.dtype())) tolerance = {};
  int64_t wrong = 0;
  int64_t first = -1;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    // Beyond 2^53 two i64 may differ and be one double.
    const bool close = want.dtype() == DType::kI64
                           ? got.data<int64_t>()[i] == want.data<int64_t>()[i]
                           : IsClose(got.AsDouble(i), want.AsDouble(i), tolerance);
    if (close) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(wrong, " of ", want.num_elements(), " elements of ", want.type().ToString(),
                   " differ; the first at ", ElementName(want, first), ": got ",
                   got.AsDouble(first), "; wanted ", want.AsDouble(first)));
}

}  // namespace trencadis::ops
