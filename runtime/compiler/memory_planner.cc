#include "runtime/compiler/memory_planner.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace trencadis::compiler {
namespace {

uint64_t RoundUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

// Places the values of `order` one after the other; returns the offsets by lifetime.
std::vector<uint64_t> PlaceInOrder(absl::Span<const Lifetime> lifetimes, uint64_t alignment,
                                   absl::Span<const int32_t> order) {
  std::vector<uint64_t> offsets(lifetimes.size(), 0);
  std::vector<int32_t> placed;  // by offset
  placed.reserve(order.size());
  for (int32_t id : order) {
    const Lifetime& value = lifetimes[id];
    const uint64_t bytes = RoundUp(value.bytes, alignment);
    if (bytes == 0) continue;
    uint64_t best_gap = std::numeric_limits<uint64_t>::max();
    uint64_t best_offset = 0;
    uint64_t free_from = 0;
    for (int32_t other : placed) {
      const Lifetime& neighbour = lifetimes[other];
      if (neighbour.last < value.first || neighbour.first > value.last) continue;
      const uint64_t begin = offsets[other];
      if (begin > free_from && begin - free_from >= bytes && begin - free_from < best_gap) {
        best_gap = begin - free_from;
        best_offset = free_from;
      }
      free_from = std::max(free_from, begin + RoundUp(neighbour.bytes, alignment));
    }
    offsets[id] = best_gap == std::numeric_limits<uint64_t>::max() ? free_from : best_offset;
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), offsets[id],
                         [&](uint64_t offset, int32_t other) { return offset < offsets[other]; });
    placed.insert(place, id);
  }
  return offsets;
}

uint64_t EndOf(absl::Span<const Lifetime> lifetimes, absl::Span<const uint64_t> offsets,
               uint64_t alignment) {
  uint64_t end = 0;
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    if (lifetimes[i].bytes == 0) continue;
    end = std::max(end, offsets[i] + RoundUp(lifetimes[i].bytes, alignment));
  }
  return end;
}

}  // namespace

std::vector<uint64_t> LiveBytes(absl::Span<const Lifetime> lifetimes, uint64_t alignment,
                                int32_t steps) {
  std::vector<uint64_t> begins(steps + 1, 0);
  std::vector<uint64_t> ends(steps + 1, 0);
  for (const Lifetime& value : lifetimes) {
    begins[value.first] += RoundUp(value.bytes, alignment);
    ends[value.last + 1] += RoundUp(value.bytes, alignment);
  }
  std::vector<uint64_t> live(steps, 0);
  uint64_t now = 0;
  for (int32_t step = 0; step < steps; ++step) {
    now += begins[step];
    now -= ends[step];
    live[step] = now;
  }
  return live;
}

ArenaPlan PlanArena(absl::Span<const Lifetime> lifetimes, uint64_t alignment) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  if (lifetimes.empty()) return plan;
  int32_t steps = 0;
  for (const Lifetime& value : lifetimes) steps = std::max(steps, value.last + 1);
  const std::vector<uint64_t> live = LiveBytes(lifetimes, alignment, steps);
  const auto peak = std::max_element(live.begin(), live.end());
  plan.lower_bound_bytes = *peak;
  plan.peak_step = static_cast<int32_t>(peak - live.begin());

  using Rank = std::pair<uint64_t, uint64_t>;
  const auto length = [](const Lifetime& v) { return static_cast<uint64_t>(v.last - v.first + 1); };
  const std::function<Rank(const Lifetime&)> ranks[] = {
      [&](const Lifetime& v) {
        return Rank{v.bytes, length(v)};
      },
      [&](const Lifetime& v) {
        return Rank{length(v), v.bytes};
      },
      [&](const Lifetime& v) {
        return Rank{v.bytes * length(v), v.bytes};
      },
      [&](const Lifetime& v) {
        return Rank{steps - v.first, v.bytes};
      },
  };
  plan.arena_bytes = std::numeric_limits<uint64_t>::max();
  for (const auto& rank : ranks) {
    std::vector<Rank> keys;
    for (const Lifetime& value : lifetimes) keys.push_back(rank(value));
    std::vector<int32_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return keys[a] > keys[b]; });
    std::vector<uint64_t> offsets = PlaceInOrder(lifetimes, alignment, order);
    const uint64_t end = EndOf(lifetimes, offsets, alignment);
    if (end >= plan.arena_bytes) continue;
    plan.arena_bytes = end;
    plan.offsets = std::move(offsets);
    if (end == plan.lower_bound_bytes) break;
  }
  return plan;
}

}  // namespace trencadis::compiler
