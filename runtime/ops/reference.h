// Loops that the reference implementations share: slow and obvious, on host tensors.
//
// Floats are computed in double and rounded once to the result's type, which for bf16 goes through
// f32; integers in int64_t, wrapped to theirs.
#ifndef TRENCADIS_RUNTIME_OPS_REFERENCE_H_
#define TRENCADIS_RUNTIME_OPS_REFERENCE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/core/literal.h"
#include "runtime/ir/op_def.h"

namespace trencadis::ops {

using Literals = std::vector<Literal>;
using LiteralSpan = absl::Span<const Literal>;

// Element `index` of a literal of integers or bool.
int64_t IntAt(const Literal& literal, int64_t index);
// Stores `value` wrapped to the literal's type (bool: value != 0).
void SetInt(Literal& literal, int64_t index, int64_t value);
// Copies the bytes of one element between literals of one dtype.
void CopyElement(const Literal& from, int64_t from_index, Literal& to, int64_t to_index);

// Calls `fn` for every index of `shape` in row-major order, with its position in that order.
void ForEachIndex(const Shape& shape,
                  const std::function<void(absl::Span<const int64_t> index, int64_t flat)>& fn);
// Position of `index` in row-major order.
int64_t FlatIndex(const Shape& shape, absl::Span<const int64_t> index);

// Elementwise functions as ir::ReferenceFn.
template <double (*kFn)(double)>
absl::StatusOr<Literals> ReferenceFloat1(LiteralSpan x, const ir::Attributes&,
                                         const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) y.SetDouble(i, kFn(x[0].AsDouble(i)));
  return Literals{std::move(y)};
}

template <double (*kFn)(double, double)>
absl::StatusOr<Literals> ReferenceFloat2(LiteralSpan x, const ir::Attributes&,
                                         const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    y.SetDouble(i, kFn(x[0].AsDouble(i), x[1].AsDouble(i)));
  }
  return Literals{std::move(y)};
}

template <int64_t (*kFn)(int64_t)>
absl::StatusOr<Literals> ReferenceInt1(LiteralSpan x, const ir::Attributes&,
                                       const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) SetInt(y, i, kFn(IntAt(x[0], i)));
  return Literals{std::move(y)};
}

template <int64_t (*kFn)(int64_t, int64_t)>
absl::StatusOr<Literals> ReferenceInt2(LiteralSpan x, const ir::Attributes&,
                                       const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) SetInt(y, i, kFn(IntAt(x[0], i), IntAt(x[1], i)));
  return Literals{std::move(y)};
}

// By the dtype of operand 0.
template <double (*kFloat)(double), int64_t (*kInt)(int64_t)>
absl::StatusOr<Literals> Reference1(LiteralSpan x, const ir::Attributes& attributes,
                                    const ir::TypeList& results) {
  return (IsFloat(x[0].dtype()) ? ReferenceFloat1<kFloat> : ReferenceInt1<kInt>)(x, attributes,
                                                                                 results);
}

template <double (*kFloat)(double, double), int64_t (*kInt)(int64_t, int64_t)>
absl::StatusOr<Literals> Reference2(LiteralSpan x, const ir::Attributes& attributes,
                                    const ir::TypeList& results) {
  return (IsFloat(x[0].dtype()) ? ReferenceFloat2<kFloat> : ReferenceInt2<kInt>)(x, attributes,
                                                                                 results);
}

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_REFERENCE_H_
