// Shape and TensorType: the static description of a dense, row-major tensor.
#ifndef TRENCADIS_RUNTIME_CORE_SHAPE_H_
#define TRENCADIS_RUNTIME_CORE_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/core/dtype.h"

namespace trencadis {

// The dimensions of a tensor, outermost first. Rank 0 is a scalar; a dimension may be 0 (empty
// tensor).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  explicit Shape(absl::Span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  // `axis` may be negative and then counts from the end, as in numpy; must be in range.
  int64_t dim(int axis) const { return dims_[axis < 0 ? axis + rank() : axis]; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t num_elements() const;
  // Row-major strides in elements.
  std::vector<int64_t> Strides() const;
  // "[2,3]"; "[]" for a scalar.
  std::string ToString() const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<int64_t> dims_;
};

// A dtype with a shape.
struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  int64_t byte_size() const { return shape.num_elements() * ByteSize(dtype); }
  // "f32[2,3]".
  std::string ToString() const;
  bool operator==(const TensorType&) const = default;
};

// Reads what TensorType::ToString writes.
absl::StatusOr<TensorType> ParseTensorType(absl::string_view text);

// The index of `axis` (which may be negative) in a tensor of `rank`, or an error naming both.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank);

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_CORE_SHAPE_H_
