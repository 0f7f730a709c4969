// Target: what compiled kernels may rely on. Part of every recipe's key: object code made for one
// target is never run on another.
//
// A plain value; needs neither LLVM nor oneDNN.
#ifndef TRENCADIS_RUNTIME_CODEGEN_TARGET_H_
#define TRENCADIS_RUNTIME_CODEGEN_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::codegen {

struct Target {
  // One of the x86-64 ABI's levels: "x86-64-v2" (SSE4.2), "x86-64-v3" (AVX2, FMA) or "x86-64-v4"
  // (AVX-512 F, BW, CD, DQ, VL). Hosts of one level share object code whatever their maker.
  std::string cpu;
  // Features beyond the level that kernels or libraries use, in LLVM's spelling, sorted:
  // "avx512bf16", "avx512vnni".
  std::vector<std::string> features;
  // Threads of the OpenMP team that a step runs on; sizes library scratchpads, never results.
  int threads = 1;
  std::string llvm_version;
  std::string onednn_version;
  std::string glibc_version;
  std::string compiler_build;  // of the C++ compiler that built this runtime

  // The machine this process runs on, with OpenMP's current team size.
  static Target Host();
  // The same libraries and threads, but code for the lesser `cpu` level without extra features.
  // Error when `cpu` is not one of the three levels.
  static absl::StatusOr<Target> HostWithCpu(absl::string_view cpu);

  bool HasFeature(absl::string_view feature) const;
  // f32 lanes of a vector register: 4, 8 or 16. Every type is processed in this many lanes, and the
  // order of a reduction follows from it.
  int Lanes() const;
  // "x86-64-v4+avx512bf16 threads=2 llvm=19.1.7 onednn=2.6.3 glibc=2.36 compiler=gcc-12.2.0": equal
  // exactly for equal targets; what the recipe key hashes and what a refused recipe shows.
  std::string ToString() const;

  bool operator==(const Target&) const = default;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_TARGET_H_
