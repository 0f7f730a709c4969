#include "runtime/codegen/parallel_run.h"

#include <omp.h>

#include <algorithm>

namespace trencadis::codegen {

void ParallelRun(KernelFn kernel, int64_t units, int64_t grain, int max_threads,
                 void* const* buffers, void* scratch, int64_t scratch_bytes_per_thread) {
  if (units <= 0) return;
  const int64_t worthwhile = std::max<int64_t>(1, units / std::max<int64_t>(1, grain));
  const int team = static_cast<int>(std::min<int64_t>(std::max(1, max_threads), worthwhile));
  if (team == 1) {
    kernel(buffers, scratch, 0, units);
    return;
  }
#pragma omp parallel num_threads(team)
  {
    // OpenMP may grant fewer threads than asked for.
    const int64_t size = omp_get_num_threads();
    const int64_t thread = omp_get_thread_num();
    kernel(buffers, static_cast<char*>(scratch) + thread * scratch_bytes_per_thread,
           units * thread / size, units * (thread + 1) / size);
  }
}

}  // namespace trencadis::codegen
