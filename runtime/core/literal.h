// Literal: a tensor in host memory, dense and row-major. Owns its bytes; copying copies them.
#ifndef TRENCADIS_RUNTIME_CORE_LITERAL_H_
#define TRENCADIS_RUNTIME_CORE_LITERAL_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/status.h"
#include "runtime/core/shape.h"

namespace trencadis {

// The C++ type that stores an element: float, BF16, int32_t, int64_t, bool (one byte), uint8_t.
template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, BF16>)
    return DType::kBF16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kI32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kI64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else {
    static_assert(std::is_same_v<T, uint8_t>, "no dtype stores this C++ type");
    return DType::kU8;
  }
}

class Literal {
 public:
  // A scalar f32 zero.
  Literal() : Literal(TensorType{}) {}
  // Zero-filled.
  explicit Literal(TensorType type) : type_(std::move(type)), bytes_(type_.byte_size()) {}

  template <typename T>
  static Literal FromVector(Shape shape, const std::vector<T>& values) {
    TRENCADIS_CHECK(shape.num_elements() == static_cast<int64_t>(values.size()));
    Literal literal({DTypeOf<T>(), std::move(shape)});
    for (size_t i = 0; i < values.size(); ++i) literal.data<T>()[i] = values[i];
    return literal;
  }
  template <typename T>
  static Literal Scalar(T value) {
    return FromVector<T>(Shape{}, {value});
  }

  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  DType dtype() const { return type_.dtype; }
  int64_t num_elements() const { return type_.shape.num_elements(); }

  absl::Span<const std::byte> bytes() const { return bytes_; }
  absl::Span<std::byte> bytes() { return absl::MakeSpan(bytes_); }

  // Elements as T, which must be the type that stores dtype().
  template <typename T>
  absl::Span<const T> data() const {
    TRENCADIS_CHECK(DTypeOf<T>() == dtype());
    return absl::Span<const T>(reinterpret_cast<const T*>(bytes_.data()), num_elements());
  }
  template <typename T>
  absl::Span<T> data() {
    TRENCADIS_CHECK(DTypeOf<T>() == dtype());
    return absl::Span<T>(reinterpret_cast<T*>(bytes_.data()), num_elements());
  }

  // Element `index` (row-major) as a double; i64 beyond 2^53 loses its last bits.
  double AsDouble(int64_t index) const;
  // Stores `value` at `index`, rounded (floats) or truncated (integers) to dtype(). Integers
  // saturate and take NaN as 0; bool takes value != 0.
  void SetDouble(int64_t index, double value);
  // A copy with every element converted, as SetDouble does.
  Literal ConvertTo(DType dtype) const;

  // "f32[2] {1, 2}", at most `max_elements` values, then "...".
  std::string ToString(int max_elements = 16) const;

  bool operator==(const Literal&) const = default;

 private:
  TensorType type_;
  std::vector<std::byte> bytes_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_CORE_LITERAL_H_
