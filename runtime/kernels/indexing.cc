#include "runtime/kernels/indexing.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::kernels {
namespace {

// Bytes worth another thread.
constexpr int64_t kParallelBytes = 1 << 16;
// Columns that ScatterAdd sums on the stack at a time.
constexpr int64_t kColumnBlock = 512;

const char* Bytes(const void* p) { return static_cast<const char*>(p); }
char* Bytes(void* p) { return static_cast<char*>(p); }

void AddFloats(const void* from, DType dtype, int64_t at, int64_t count, float* sums) {
  if (dtype == DType::kF32) {
    for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<const float*>(from)[at + i];
  } else {
    for (int64_t i = 0; i < count; ++i) sums[i] += ToF32(static_cast<const BF16*>(from)[at + i]);
  }
}

void WriteFloats(const float* from, int64_t count, void* to, DType dtype, int64_t at) {
  if (dtype == DType::kF32) {
    std::memcpy(static_cast<float*>(to) + at, from, count * sizeof(float));
  } else {
    for (int64_t i = 0; i < count; ++i) static_cast<BF16*>(to)[at + i] = ToBF16(from[i]);
  }
}

absl::Status CheckSlice(int32_t start, int64_t size, int64_t axis) {
  if (start >= 0 && start + size <= axis) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("slice of ", size, " from ", start,
                                            " leaves an axis of ", axis,
                                            "; wanted a start in 0 to ", axis - size));
}

// Copies `outer` runs of `bytes`, `from_stride` and `to_stride` bytes apart.
void CopyRuns(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t outer,
              int64_t bytes) {
#pragma omp parallel for schedule(static) if (outer > 1 && outer * bytes > kParallelBytes)
  for (int64_t i = 0; i < outer; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
  }
}

template <typename T>
double Comparable(T x) {
  return static_cast<double>(x);
}
double Comparable(BF16 x) { return ToF32(x); }

// i64 compares exactly as itself, everything else as double.
int64_t Comparable(int64_t x) { return x; }

template <typename V>
bool IsNan(V x) {
  return x != x;
}

template <typename T>
void ArgmaxOf(const T* x, int64_t outer, int64_t axis, int64_t inner, int32_t* result) {
#pragma omp parallel for schedule(static) if (outer * axis * inner > kParallelBytes)
  for (int64_t i = 0; i < outer * inner; ++i) {
    const T* column = x + i / inner * axis * inner + i % inner;
    auto best = Comparable(column[0]);
    int32_t at = 0;
    for (int64_t j = 1; j < axis && !IsNan(best); ++j) {
      const auto value = Comparable(column[j * inner]);
      if (value > best || IsNan(value)) {
        best = value;
        at = static_cast<int32_t>(j);
      }
    }
    result[i] = at;
  }
}

}  // namespace

absl::Status CheckIds(const Ids& ids, int64_t rows) {
  for (int64_t i = 0; i < ids.count; ++i) {
    const int64_t id = ids[i];
    if (id >= 0 && id < rows) continue;
    return absl::OutOfRangeError(absl::StrCat("id ", id, " at position ", i,
                                              " is outside a table of ", rows,
                                              " rows; wanted 0 to ", rows - 1));
  }
  return absl::OkStatus();
}

absl::Status Take(const void* table, int64_t rows, int64_t row_bytes, const Ids& ids,
                  void* result) {
  TRENCADIS_RETURN_IF_ERROR(CheckIds(ids, rows));
#pragma omp parallel for schedule(static) if (ids.count * row_bytes > kParallelBytes)
  for (int64_t i = 0; i < ids.count; ++i) {
    std::memcpy(Bytes(result) + i * row_bytes, Bytes(table) + ids[i] * row_bytes, row_bytes);
  }
  return absl::OkStatus();
}

absl::Status ScatterAdd(const Ids& ids, const void* updates, DType updates_dtype, int64_t rows,
                        int64_t width, void* result, DType result_dtype) {
  TRENCADIS_RETURN_IF_ERROR(CheckIds(ids, rows));
  std::vector<int64_t> order(ids.count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return ids[a] < ids[b]; });
  // first_of[g]: where in `order` the g-th distinct row begins.
  std::vector<int64_t> first_of;
  for (int64_t i = 0; i < ids.count; ++i) {
    if (i == 0 || ids[order[i]] != ids[order[i - 1]]) first_of.push_back(i);
  }
  const auto groups = static_cast<int64_t>(first_of.size());
  first_of.push_back(ids.count);

  const int64_t row_bytes = width * ByteSize(result_dtype);
#pragma omp parallel for schedule(static) if (rows * row_bytes > kParallelBytes)
  for (int64_t row = 0; row < rows; ++row) {
    std::memset(Bytes(result) + row * row_bytes, 0, row_bytes);
  }
#pragma omp parallel for schedule(dynamic, 16) if (ids.count * width > kParallelBytes)
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t row = ids[order[first_of[group]]];
    for (int64_t begin = 0; begin < width; begin += kColumnBlock) {
      const int64_t count = std::min(kColumnBlock, width - begin);
      float sums[kColumnBlock] = {};
      for (int64_t i = first_of[group]; i < first_of[group + 1]; ++i) {
        AddFloats(updates, updates_dtype, order[i] * width + begin, count, sums);
      }
      WriteFloats(sums, count, result, result_dtype, row * width + begin);
    }
  }
  return absl::OkStatus();
}

absl::Status DynamicSlice(const void* x, const AxisView& view, int32_t start, int64_t size,
                          void* result) {
  TRENCADIS_RETURN_IF_ERROR(CheckSlice(start, size, view.axis));
  const int64_t bytes = size * view.inner_bytes;
  CopyRuns(Bytes(x) + start * view.inner_bytes, view.axis * view.inner_bytes, Bytes(result), bytes,
           view.outer, bytes);
  return absl::OkStatus();
}

absl::Status DynamicUpdateSlice(const void* x, const AxisView& view, const void* update,
                                int64_t size, int32_t start, void* result) {
  TRENCADIS_RETURN_IF_ERROR(CheckSlice(start, size, view.axis));
  const int64_t stride = view.axis * view.inner_bytes;
  if (result != x) CopyRuns(Bytes(x), stride, Bytes(result), stride, view.outer, stride);
  const int64_t bytes = size * view.inner_bytes;
  CopyRuns(Bytes(update), bytes, Bytes(result) + start * view.inner_bytes, stride, view.outer,
           bytes);
  return absl::OkStatus();
}

void Argmax(const void* x, DType dtype, int64_t outer, int64_t axis, int64_t inner,
            int32_t* result) {
  switch (dtype) {
    case DType::kF32:
      return ArgmaxOf(static_cast<const float*>(x), outer, axis, inner, result);
    case DType::kBF16:
      return ArgmaxOf(static_cast<const BF16*>(x), outer, axis, inner, result);
    case DType::kI32:
      return ArgmaxOf(static_cast<const int32_t*>(x), outer, axis, inner, result);
    case DType::kI64:
      return ArgmaxOf(static_cast<const int64_t*>(x), outer, axis, inner, result);
    case DType::kBool:
    case DType::kU8:
      return ArgmaxOf(static_cast<const uint8_t*>(x), outer, axis, inner, result);
  }
}

}  // namespace trencadis::kernels
