// Kernels whose data decide which elements they touch.
//
// Tensors are dense and row-major; rows are runs of bytes or elements. Results do not depend on the
// number of OpenMP threads. An index out of range is an OutOfRange error that names it, its
// position and the allowed range; then nothing has been written. Re-entrant.
#ifndef TRENCADIS_RUNTIME_KERNELS_INDEXING_H_
#define TRENCADIS_RUNTIME_KERNELS_INDEXING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/core/dtype.h"

namespace trencadis::kernels {

// Row numbers, i32 or i64.
struct Ids {
  const void* data = nullptr;
  DType dtype = DType::kI32;
  int64_t count = 0;

  int64_t operator[](int64_t i) const {
    return dtype == DType::kI32 ? static_cast<const int32_t*>(data)[i]
                                : static_cast<const int64_t*>(data)[i];
  }
};

// OK when every id is in [0, rows).
absl::Status CheckIds(const Ids& ids, int64_t rows);

// result[i] = table[ids[i]]; table has `rows` rows of `row_bytes`, result ids.count.
absl::Status Take(const void* table, int64_t rows, int64_t row_bytes, const Ids& ids, void* result);

// result[r] = sum of updates[i] over i with ids[i] == r, added in f32 in the order of i and rounded
// once. updates has ids.count rows of `width` elements, result `rows`; each f32 or bf16.
absl::Status ScatterAdd(const Ids& ids, const void* updates, DType updates_dtype, int64_t rows,
                        int64_t width, void* result, DType result_dtype);

// A tensor seen as [outer, axis, inner_bytes].
struct AxisView {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner_bytes = 1;
};

// result [outer, size, inner_bytes] = x[:, start : start + size].
absl::Status DynamicSlice(const void* x, const AxisView& view, int32_t start, int64_t size,
                          void* result);

// result = x with [:, start : start + size] replaced by update [outer, size, inner_bytes]. result
// may be x, and then only the update is written; otherwise they do not overlap.
absl::Status DynamicUpdateSlice(const void* x, const AxisView& view, const void* update,
                                int64_t size, int32_t start, void* result);

// result[o, i] = the first position of the largest of x[o, :, i], for x [outer, axis, inner] of any
// dtype but bool; a NaN counts as largest. axis >= 1.
void Argmax(const void* x, DType dtype, int64_t outer, int64_t axis, int64_t inner,
            int32_t* result);

}  // namespace trencadis::kernels

#endif  // TRENCADIS_RUNTIME_KERNELS_INDEXING_H_
