#include "runtime/kernels/layout.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "runtime/core/literal.h"

namespace trencadis::kernels {
namespace {

// Elements worth another thread.
constexpr int64_t kParallelElements = 1 << 15;
// Side of the square blocks in which the two fastest axes are walked: their lines fit the
// first-level cache however either tensor is laid out.
constexpr int64_t kBlock = 32;

int64_t Product(absl::Span<const int64_t> values) {
  return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<int64_t>());
}

template <typename T>
void FillOf(T value, int64_t count, T* result) {
#pragma omp parallel for simd schedule(static) if (count > kParallelElements)
  for (int64_t i = 0; i < count; ++i) result[i] = value;
}

// An axis of a copy: extent, and strides in elements.
struct Axis {
  int64_t size, from, to;
};

template <typename T>
void CopyBlock(const T* from, T* to, const Axis& outer, const Axis& inner) {
  if (inner.from == 1 && inner.to == 1) {
    for (int64_t i = 0; i < outer.size; ++i) {
      std::memcpy(to + i * outer.to, from + i * outer.from, inner.size * sizeof(T));
    }
    return;
  }
  for (int64_t i = 0; i < outer.size; ++i) {
    for (int64_t j = 0; j < inner.size; ++j) {
      to[i * outer.to + j * inner.to] = from[i * outer.from + j * inner.from];
    }
  }
}

// Copies the plane of two axes in blocks.
template <typename T>
void CopyPlane(const T* from, T* to, const Axis& outer, const Axis& inner) {
  const int64_t step = inner.from == 1 && inner.to == 1 ? inner.size : kBlock;
  for (int64_t i = 0; i < outer.size; i += kBlock) {
    for (int64_t j = 0; j < inner.size; j += step) {
      CopyBlock(from + i * outer.from + j * inner.from, to + i * outer.to + j * inner.to,
                {std::min(kBlock, outer.size - i), outer.from, outer.to},
                {std::min(step, inner.size - j), inner.from, inner.to});
    }
  }
}

template <typename T>
void CopyOf(const void* x, std::vector<Axis> axes, void* result) {
  while (axes.size() < 3) axes.insert(axes.begin(), {1, 0, 0});
  // The plane: the axis that is fastest in the result, last, and that which is fastest in x.
  const auto rank = axes.size();
  const auto fastest_from =
      std::min_element(axes.begin(), axes.end() - 1, [](const Axis& a, const Axis& b) {
        const auto rate = [](const Axis& axis) {
          return axis.size == 1 || axis.from == 0 ? INT64_MAX : std::abs(axis.from);
        };
        return rate(a) < rate(b);
      });
  if (std::abs(axes.back().from) > 1) std::rotate(fastest_from, fastest_from + 1, axes.end() - 1);
  // Blocks of the plane's outer axis are the units shared out between threads.
  const Axis outer = axes[rank - 2];
  const Axis inner = axes[rank - 1];
  const int64_t slabs = (outer.size + kBlock - 1) / kBlock;
  int64_t planes = 1;
  for (size_t i = 0; i + 2 < rank; ++i) planes *= axes[i].size;
  const int64_t elements = planes * outer.size * inner.size;
#pragma omp parallel for schedule(static) if (elements > kParallelElements)
  for (int64_t unit = 0; unit < planes * slabs; ++unit) {
    const int64_t slab = unit % slabs * kBlock;
    int64_t from = slab * outer.from;
    int64_t to = slab * outer.to;
    int64_t rest = unit / slabs;
    for (size_t i = rank - 2; i-- > 0;) {
      from += rest % axes[i].size * axes[i].from;
      to += rest % axes[i].size * axes[i].to;
      rest /= axes[i].size;
    }
    CopyPlane(static_cast<const T*>(x) + from, static_cast<T*>(result) + to,
              {std::min(kBlock, outer.size - slab), outer.from, outer.to}, inner);
  }
}

}  // namespace

void Fill(DType dtype, double value, int64_t count, void* result) {
  Literal element({dtype, Shape{}});
  element.SetDouble(0, value);
  const std::byte* bytes = element.bytes().data();
  const auto fill = [&](auto typed) {
    std::memcpy(&typed, bytes, sizeof(typed));
    FillOf(typed, count, static_cast<decltype(typed)*>(result));
  };
  switch (ByteSize(dtype)) {
    case 1:
      return fill(uint8_t{});
    case 2:
      return fill(uint16_t{});
    case 4:
      return fill(uint32_t{});
    default:
      return fill(uint64_t{});
  }
}

void Concatenate(absl::Span<const void* const> parts, absl::Span<const int64_t> part_bytes,
                 int64_t outer, void* result) {
  const int64_t stride = std::accumulate(part_bytes.begin(), part_bytes.end(), int64_t{0});
  int64_t offset = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const auto* from = static_cast<const char*>(parts[p]);
    auto* to = static_cast<char*>(result) + offset;
    const int64_t bytes = part_bytes[p];
#pragma omp parallel for schedule(static) if (outer > 1 && outer * bytes > kParallelElements)
    for (int64_t i = 0; i < outer; ++i) std::memcpy(to + i * stride, from + i * bytes, bytes);
    offset += bytes;
  }
}

void Pad(const void* x, DType dtype, absl::Span<const int64_t> dims, absl::Span<const int64_t> low,
         absl::Span<const int64_t> high, double value, void* result) {
  const size_t rank = dims.size();
  std::vector<int64_t> from_strides(rank), to_strides(rank);
  int64_t from = 1, to = 1, start = 0;
  for (size_t i = rank; i-- > 0;) {
    from_strides[i] = from;
    to_strides[i] = to;
    start += low[i] * to;
    from *= dims[i];
    to *= low[i] + dims[i] + high[i];
  }
  Fill(dtype, value, to, result);
  StridedCopy(x, ByteSize(dtype), dims, from_strides, to_strides,
              static_cast<char*>(result) + start * ByteSize(dtype));
}

void StridedCopy(const void* x, int64_t element_bytes, absl::Span<const int64_t> dims,
                 absl::Span<const int64_t> x_strides, absl::Span<const int64_t> result_strides,
                 void* result) {
  if (Product(dims) == 0) return;
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], x_strides[i], result_strides[i]};
    // An axis that continues the one before it in both tensors joins it.
    if (!axes.empty() && axes.back().from == axis.from * axis.size &&
        axes.back().to == axis.to * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    } else {
      axes.push_back(axis);
    }
  }
  switch (element_bytes) {
    case 1:
      return CopyOf<uint8_t>(x, std::move(axes), result);
    case 2:
      return CopyOf<uint16_t>(x, std::move(axes), result);
    case 4:
      return CopyOf<uint32_t>(x, std::move(axes), result);
    default:
      return CopyOf<uint64_t>(x, std::move(axes), result);
  }
}

}  // namespace trencadis::kernels
