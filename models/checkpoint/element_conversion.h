// Converts elements as checkpoint files store them to the dtypes of tensors, at memory speed.
//
// Pure functions, thread-safe. Stored data is little-endian and need not be aligned.
#ifndef TRENCADIS_MODELS_CHECKPOINT_ELEMENT_CONVERSION_H_
#define TRENCADIS_MODELS_CHECKPOINT_ELEMENT_CONVERSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "runtime/core/dtype.h"

namespace trencadis::checkpoint {

// Element types that can be read. The quantised ones are ggml's and come in blocks (see
// quantized_blocks.h).
enum class StoredType {
  kF32,
  kF16,
  kBF16,
  kF64,
  kI32,
  kI64,
  kU8,
  kBool,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ4_K,
  kQ5_K,
  kQ6_K
};

// How many elements share a block (1 for plain types), and a block's bytes.
struct BlockLayout {
  int64_t elements;
  int64_t bytes;
};
BlockLayout LayoutOf(StoredType type);

// What a type reads as by default: f32 for every kind of float but bf16.
DType NaturalDType(StoredType type);

// Converts whole blocks from `stored` into `out`, elements of `dtype`: NaturalDType(type), or for
// floats f32 or bf16. `out` has room for exactly the elements that `stored` holds, aligned for
// `dtype`.
void ConvertElements(StoredType type, absl::Span<const std::byte> stored, DType dtype,
                     absl::Span<std::byte> out);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_ELEMENT_CONVERSION_H_
