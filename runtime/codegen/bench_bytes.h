// Aligned memory for benchmarks.
#ifndef TRENCADIS_RUNTIME_CODEGEN_BENCH_BYTES_H_
#define TRENCADIS_RUNTIME_CODEGEN_BENCH_BYTES_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace trencadis::codegen {

struct FreeBytes {
  void operator()(void* p) const { std::free(p); }
};
using BenchBytes = std::unique_ptr<char, FreeBytes>;

// `bytes` zeros, aligned to 64 bytes, whose pages have been touched.
inline BenchBytes AllocateBytes(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  bytes = (bytes + kAlignment) / kAlignment * kAlignment;
  BenchBytes data(static_cast<char*>(std::aligned_alloc(kAlignment, bytes)));
  std::fill_n(data.get(), bytes, 0);
  return data;
}

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_BENCH_BYTES_H_
