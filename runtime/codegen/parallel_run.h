// ParallelRun: one stage of a kernel over an OpenMP team. The library's pool, no other.
#ifndef TRENCADIS_RUNTIME_CODEGEN_PARALLEL_RUN_H_
#define TRENCADIS_RUNTIME_CODEGEN_PARALLEL_RUN_H_

#include <cstdint>

#include "runtime/codegen/kernel.h"

namespace trencadis::codegen {

// Runs `kernel` over units [0, units) on at most `max_threads` threads, each given at least `grain`
// units (the calling thread alone when there is work for only one). Thread t uses the scratch at
// `scratch + t * scratch_bytes_per_thread`; `scratch` must hold max_threads of them, each 64-byte
// aligned.
void ParallelRun(KernelFn kernel, int64_t units, int64_t grain, int max_threads,
                 void* const* buffers, void* scratch, int64_t scratch_bytes_per_thread);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_PARALLEL_RUN_H_
