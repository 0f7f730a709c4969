// ByteSet: a set of byte offsets, kept as disjoint intervals.
//
// Adding, removing and asking cost O(log n) plus the intervals swallowed. Not thread-safe.
#ifndef TRENCADIS_RUNTIME_RECIPE_BYTE_SET_H_
#define TRENCADIS_RUNTIME_RECIPE_BYTE_SET_H_

#include <cstdint>
#include <iterator>
#include <map>

namespace trencadis::recipe {

class ByteSet {
 public:
  // Adds [begin, end).
  void Add(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    auto it = intervals_.upper_bound(begin);
    if (it != intervals_.begin() && std::prev(it)->second >= begin) {
      --it;
      begin = it->first;
    }
    while (it != intervals_.end() && it->first <= end) {
      if (it->second > end) end = it->second;
      it = intervals_.erase(it);
    }
    intervals_.emplace_hint(it, begin, end);
  }

  // Removes [begin, end).
  void Remove(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    auto it = intervals_.upper_bound(begin);
    if (it != intervals_.begin() && std::prev(it)->second > begin) --it;
    while (it != intervals_.end() && it->first < end) {
      const auto [old_begin, old_end] = *it;
      it = intervals_.erase(it);
      if (old_begin < begin) intervals_.emplace(old_begin, begin);
      if (old_end > end) it = intervals_.emplace(end, old_end).first;
    }
  }

  // Whether all of [begin, end) is in the set.
  bool Contains(uint64_t begin, uint64_t end) const {
    if (begin >= end) return true;
    auto it = intervals_.upper_bound(begin);
    return it != intervals_.begin() && std::prev(it)->second >= end;
  }

 private:
  std::map<uint64_t, uint64_t> intervals_;  // begin -> end; disjoint and not adjacent
};

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_BYTE_SET_H_
