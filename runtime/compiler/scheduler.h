// The scheduler: an order of a graph's nodes that keeps little memory alive.
//
// Starting from program order, a node that frees more than it allocates runs as soon as it can (the
// update of a parameter right after its gradient); all else keeps its place. If that order's live
// bytes peak no lower than program order's, program order is kept. Pure function.
#ifndef TRENCADIS_RUNTIME_COMPILER_SCHEDULER_H_
#define TRENCADIS_RUNTIME_COMPILER_SCHEDULER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace trencadis::compiler {

struct ScheduleProblem {
  // Per node: the nodes that must run before it. Each once.
  std::vector<std::vector<int32_t>> predecessors;
  // Wishes: first -> second. Kept together if they allow an order at all, dropped otherwise.
  std::vector<std::pair<int32_t, int32_t>> preferences;
  // The values that take memory: made by one node, read by some, freed after the last reader.
  struct Value {
    uint64_t bytes = 0;
    int32_t producer = -1;
    std::vector<int32_t> readers;  // each once; empty: freed at once
  };
  std::vector<Value> values;
};

// All nodes, each once, predecessors first.
std::vector<int32_t> Schedule(const ScheduleProblem& problem);

// The most bytes of `problem`'s values that are alive at once when nodes run in `order`.
uint64_t PeakLiveBytes(const ScheduleProblem& problem, absl::Span<const int32_t> order);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_SCHEDULER_H_
