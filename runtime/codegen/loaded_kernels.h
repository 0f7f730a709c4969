// LoadedKernels: object bytes made callable, without LLVM.
//
// A small linker for the objects that this folder's code generator writes: it lays their sections
// out in one mapping, applies the relocations, resolves libm and libmvec, and makes code pages
// executable and read-only. Loading costs microseconds per kernel, so a stored recipe starts
// without LLVM. Immutable once loaded; const access is thread-safe. Object bytes come from files:
// damage is an error, never a crash.
#ifndef TRENCADIS_RUNTIME_CODEGEN_LOADED_KERNELS_H_
#define TRENCADIS_RUNTIME_CODEGEN_LOADED_KERNELS_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/codegen/kernel.h"

namespace trencadis::codegen {

class LoadedKernels {
 public:
  // Links `objects`, each self-contained but for math functions; empty ones, of kernels without
  // stages, count for nothing. Errors: an object that is not x86-64
  // ELF or is damaged (DataLoss), an unknown function (NotFound), a symbol defined twice
  // (AlreadyExists).
  static absl::StatusOr<std::unique_ptr<LoadedKernels>> Load(
      absl::Span<const absl::string_view> objects);
  ~LoadedKernels();
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;

  // The stage function named `symbol`, callable as long as this object lives; NotFound otherwise.
  absl::StatusOr<KernelFn> Find(absl::string_view symbol) const;
  // Bytes of code and constants mapped.
  int64_t mapped_bytes() const { return mapped_bytes_; }

 private:
  LoadedKernels() = default;

  void* mapping_ = nullptr;
  int64_t mapped_bytes_ = 0;
  absl::flat_hash_map<std::string, KernelFn> functions_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LOADED_KERNELS_H_
