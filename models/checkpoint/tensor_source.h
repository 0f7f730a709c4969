// TensorSource: a read-only collection of named tensors in files, whatever the file format.
//
// Opening one reads headers only. Each read copies (and where needed converts) straight from the
// memory-mapped file into the caller's memory: every byte is touched once and nothing is cached.
// Immutable once opened; reads may run in any number of threads at the same time. The files must
// not be truncated while a source is open.
#ifndef TRENCADIS_MODELS_CHECKPOINT_TENSOR_SOURCE_H_
#define TRENCADIS_MODELS_CHECKPOINT_TENSOR_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/core/literal.h"
#include "runtime/core/shape.h"

namespace trencadis::checkpoint {

struct TensorInfo {
  std::string name;
  Shape shape;
  // The file's own name for the element type: "F16", "BF16", "Q4_1", ...
  std::string stored_as;
  // What the tensor reads as unless asked otherwise: f16, f64 and the quantised types give f32.
  // Empty for a type that is listed and cannot be read.
  std::optional<DType> dtype;
  int64_t stored_bytes = 0;
};

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;

  // Sorted by name, names distinct. Valid as long as the source.
  absl::Span<const TensorInfo> tensors() const { return tensors_; }
  // nullptr when there is none of that name.
  const TensorInfo* Find(absl::string_view name) const;
  // As Find, but NotFound names the tensor and what the source holds.
  absl::StatusOr<const TensorInfo*> Get(absl::string_view name) const;

  // The whole tensor as `dtype`, or as its info's dtype. Float tensors read as f32 or bf16 (rounded
  // to nearest, ties to even); others only as what they are.
  absl::StatusOr<Literal> Read(absl::string_view name) const;
  absl::StatusOr<Literal> Read(absl::string_view name, DType dtype) const;
  // The same into `out`, which must be as large as the tensor is in `dtype`.
  absl::Status ReadInto(absl::string_view name, DType dtype, absl::Span<std::byte> out) const;
  // `rows` slices of the outermost dimension from `first_row` on (a scalar is one row), for readers
  // that hold a shard.
  absl::Status ReadRowsInto(absl::string_view name, int64_t first_row, int64_t rows, DType dtype,
                            absl::Span<std::byte> out) const;

 protected:
  TensorSource() = default;
  // Sorts; call once while opening. Fails when two tensors share a name.
  absl::Status SetTensors(std::vector<TensorInfo> tensors);
  // Index of `info`, an element of tensors().
  size_t IndexOf(const TensorInfo& info) const { return &info - tensors_.data(); }

  // Does ReadRowsInto with arguments already checked: the rows exist, `dtype` can be had, `out` has
  // the right size.
  virtual absl::Status ReadCheckedRows(const TensorInfo& info, int64_t first_row, int64_t rows,
                                       DType dtype, absl::Span<std::byte> out) const = 0;

 private:
  absl::Status ReadRows(const TensorInfo& info, int64_t first_row, int64_t rows, DType dtype,
                        absl::Span<std::byte> out) const;

  std::vector<TensorInfo> tensors_;
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_TENSOR_SOURCE_H_
