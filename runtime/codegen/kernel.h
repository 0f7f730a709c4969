// The kernel ABI, and a compiled kernel as data.
//
// A kernel runs in one or more *stages*, one after the other; a stage is a function over units
// [0, units) that any number of threads may share out between them in contiguous ranges. Results
// never depend on how the units are split. Everything here is a plain value.
#ifndef TRENCADIS_RUNTIME_CODEGEN_KERNEL_H_
#define TRENCADIS_RUNTIME_CODEGEN_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trencadis::codegen {

// Computes units [begin, end).
//   buffers: the operands in order, then the results in order, then the kernel's shared scratch if
//            it has one. Dense and row-major; aligned to their element size at least.
//   scratch: of this thread alone, KernelCode::scratch_bytes_per_thread long and aligned to 64
//            bytes; contents undefined. May be null when that is 0.
extern "C" using KernelFn =
    void(*)(void* const* buffers, void* scratch, int64_t begin, int64_t end);

struct KernelStage {
  std::string symbol;
  int64_t units = 0;  // 0 for empty tensors: nothing to call
  int64_t grain = 1;  // units below which another thread is not worth its start
};

// Estimates for schedules, timelines and plans. Bytes count each operand and result once.
struct KernelCost {
  double flops = 0;
  double bytes = 0;
};

struct KernelCode {
  // All threads finish one before any starts the next. None when every result is empty.
  std::vector<KernelStage> stages;
  // A relocatable ELF object that defines the stages' symbols; empty when there are none.
  std::string object;
  int64_t scratch_bytes_per_thread = 0;
  // Written by one stage and read by the next: one 64-byte aligned buffer for the whole launch,
  // passed after the results; 0 means that there is none.
  int64_t shared_scratch_bytes = 0;
  KernelCost cost;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_KERNEL_H_
