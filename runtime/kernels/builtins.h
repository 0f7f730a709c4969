// Builtins: the kernels of this folder by name, with their parameters as integers, as a recipe's
// BuiltinStep holds them.
//
//   name                  operands            parameters
//   take                  table, ids          rows, row_bytes, ids dtype, ids
//   scatter_add           ids, updates        ids dtype, ids, updates dtype, rows, width, result
//                                             dtype
//   dynamic_slice         x, start i32        outer, axis, inner_bytes, size
//   dynamic_update_slice  x, update, start    outer, axis, inner_bytes, size
//   argmax                x                   dtype, outer, axis, inner
//   concatenate           parts...            outer, bytes of each part's run
//   pad                   x                   dtype, dims..., low..., high...   (value: the
//   padding) copy                  x                   element_bytes, dims..., x strides..., result
//   strides... fill                  -                   dtype, count                      (value)
//
// A dtype is trencadis::DType's number. Each has one result. What they compute: indexing.h,
// layout.h.
#ifndef TRENCADIS_RUNTIME_KERNELS_BUILTINS_H_
#define TRENCADIS_RUNTIME_KERNELS_BUILTINS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis::kernels {

struct BuiltinCall {
  absl::Span<const int64_t> parameters;
  double value = 0;
  absl::Span<const void* const> operands;
  void* result = nullptr;
};

// Runs one builtin. Its errors are those of the kernel (an index out of range).
using Builtin = absl::Status (*)(const BuiltinCall& call);

// The builtin `name`, after checking that it takes so many operands and parameters and that
// parameters that are dtypes or sizes can be such; InvalidArgument otherwise. Buffers as large as
// the parameters say are the caller's duty.
absl::StatusOr<Builtin> FindBuiltin(absl::string_view name, absl::Span<const int64_t> parameters,
                                    int64_t operands);

}  // namespace trencadis::kernels

#endif  // TRENCADIS_RUNTIME_KERNELS_BUILTINS_H_
