// The memory planner: places values with known lifetimes in one arena.
//
// Two values whose lifetimes share a step never share a byte. Placement is best fit: each value, in
// some order, goes into the smallest gap that is free over its whole life. Several orders are tried
// (as XLA's GlobalDecreasingSizeBestFitHeap does) and the lowest peak is kept. Pure functions.
#ifndef TRENCADIS_RUNTIME_COMPILER_MEMORY_PLANNER_H_
#define TRENCADIS_RUNTIME_COMPILER_MEMORY_PLANNER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace trencadis::compiler {

// A value that must be in memory from step `first` to step `last`, both included.
struct Lifetime {
  uint64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

struct ArenaPlan {
  std::vector<uint64_t> offsets;  // by lifetime; multiples of the alignment
  uint64_t arena_bytes = 0;       // the end of the highest value
  // The most bytes that are alive in any one step: no placement needs less.
  uint64_t lower_bound_bytes = 0;
  int32_t peak_step = 0;  // the first step with that many

  uint64_t fragmentation_bytes() const { return arena_bytes - lower_bound_bytes; }
};

// Sizes are rounded up to `alignment`, a power of two.
ArenaPlan PlanArena(absl::Span<const Lifetime> lifetimes, uint64_t alignment);

// The bytes alive in each of `steps` steps, each value rounded up to `alignment`.
std::vector<uint64_t> LiveBytes(absl::Span<const Lifetime> lifetimes, uint64_t alignment,
                                int32_t steps);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_MEMORY_PLANNER_H_
