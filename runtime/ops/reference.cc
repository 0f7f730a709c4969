#include "runtime/ops/reference.h"

#include <cstring>

namespace trencadis::ops {

int64_t IntAt(const Literal& literal, int64_t index) {
  switch (literal.dtype()) {
    case DType::kI32:
      return literal.data<int32_t>()[index];
    case DType::kI64:
      return literal.data<int64_t>()[index];
    case DType::kBool:
      return literal.data<bool>()[index];
    case DType::kU8:
      return literal.data<uint8_t>()[index];
    case DType::kF32:
    case DType::kBF16:
      break;
  }
  TRENCADIS_CHECK(false && "a literal of integers");
}

void SetInt(Literal& literal, int64_t index, int64_t value) {
  switch (literal.dtype()) {
    case DType::kI32:
      literal.data<int32_t>()[index] = static_cast<int32_t>(value);
      return;
    case DType::kI64:
      literal.data<int64_t>()[index] = value;
      return;
    case DType::kBool:
      literal.data<bool>()[index] = value != 0;
      return;
    case DType::kU8:
      literal.data<uint8_t>()[index] = static_cast<uint8_t>(value);
      return;
    case DType::kF32:
    case DType::kBF16:
      break;
  }
  TRENCADIS_CHECK(false && "a literal of integers");
}

void CopyElement(const Literal& from, int64_t from_index, Literal& to, int64_t to_index) {
  const int64_t size = ByteSize(from.dtype());
  std::memcpy(to.bytes().data() + to_index * size, from.bytes().data() + from_index * size, size);
}

void ForEachIndex(const Shape& shape,
                  const std::function<void(absl::Span<const int64_t>, int64_t)>& fn) {
  std::vector<int64_t> index(shape.rank(), 0);
  const int64_t count = shape.num_elements();
  for (int64_t flat = 0; flat < count; ++flat) {
    fn(index, flat);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++index[axis] < shape.dim(axis)) break;
      index[axis] = 0;
    }
  }
}

int64_t FlatIndex(const Shape& shape, absl::Span<const int64_t> index) {
  int64_t flat = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) flat = flat * shape.dim(axis) + index[axis];
  return flat;
}

}  // namespace trencadis::ops
