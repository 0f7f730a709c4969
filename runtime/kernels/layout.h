// Kernels that move elements to places known in advance.
//
// Elements are runs of 1, 2, 4 or 8 bytes; tensors are dense and row-major unless strides are
// given. Parallel by OpenMP where it pays; re-entrant.
#ifndef TRENCADIS_RUNTIME_KERNELS_LAYOUT_H_
#define TRENCADIS_RUNTIME_KERNELS_LAYOUT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/core/dtype.h"

namespace trencadis::kernels {

// Every element of result becomes `value`, converted to `dtype` as Literal::SetDouble does.
void Fill(DType dtype, double value, int64_t count, void* result);

// parts[p] is [outer, part_bytes[p]]; result [outer, sum of part_bytes] holds them side by side.
void Concatenate(absl::Span<const void* const> parts, absl::Span<const int64_t> part_bytes,
                 int64_t outer, void* result);

// result = x [dims] with low[i] elements of `value` before and high[i] after, along each axis i.
void Pad(const void* x, DType dtype, absl::Span<const int64_t> dims, absl::Span<const int64_t> low,
         absl::Span<const int64_t> high, double value, void* result);

// result [dims] with result_strides = x with x_strides, both in elements; x_strides may be 0
// (broadcast) or negative (x then points at the element with index 0).
void StridedCopy(const void* x, int64_t element_bytes, absl::Span<const int64_t> dims,
                 absl::Span<const int64_t> x_strides, absl::Span<const int64_t> result_strides,
                 void* result);

}  // namespace trencadis::kernels

#endif  // TRENCADIS_RUNTIME_KERNELS_LAYOUT_H_
