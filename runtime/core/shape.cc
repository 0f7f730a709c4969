#include "runtime/core/shape.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status.h"

namespace trencadis {

int64_t Shape::num_elements() const {
  int64_t count = 1;
  for (int64_t dim : dims_) count *= dim;
  return count;
}

std::vector<int64_t> Shape::Strides() const {
  std::vector<int64_t> strides(dims_.size());
  int64_t stride = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= dims_[axis];
  }
  return strides;
}

std::string Shape::ToString() const { return absl::StrCat("[", absl::StrJoin(dims_, ","), "]"); }

std::string TensorType::ToString() const {
  return absl::StrCat(DTypeName(dtype), shape.ToString());
}

absl::StatusOr<TensorType> ParseTensorType(absl::string_view text) {
  const size_t open = text.find('[');
  if (open == absl::string_view::npos || text.back() != ']') {
    return absl::InvalidArgumentError(
        absl::StrCat("bad tensor type '", text, "'; wanted a form like f32[2,3]"));
  }
  TRENCADIS_ASSIGN_OR_RETURN(const DType dtype, ParseDType(text.substr(0, open)));
  std::vector<int64_t> dims;
  const absl::string_view inner = text.substr(open + 1, text.size() - open - 2);
  if (inner.empty()) return TensorType{dtype, Shape()};
  int64_t byte_size = ByteSize(dtype);
  for (absl::string_view piece : absl::StrSplit(inner, ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(piece, &dim) || dim < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("bad dimension '", piece, "' in tensor type '", text, "'"));
    }
    if (__builtin_mul_overflow(byte_size, std::max<int64_t>(dim, 1), &byte_size)) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor type '", text, "' takes more than 2^63 bytes"));
    }
    dims.push_back(dim);
  }
  return TensorType{dtype, Shape(std::move(dims))};
}

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is out of range for a tensor of rank ", rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace trencadis
