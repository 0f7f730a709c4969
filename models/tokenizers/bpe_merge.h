// The merging loop of byte-pair encoding: of all adjacent pairs that may merge, the best first, of
// equals the leftmost, until none is left. O(n log n) in the length of the text.
#ifndef TRENCADIS_MODELS_TOKENIZERS_BPE_MERGE_H_
#define TRENCADIS_MODELS_TOKENIZERS_BPE_MERGE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace trencadis::tokenizers {

// A stretch of the text. Merging extends the left of two symbols and empties the right one.
struct BpeSymbol {
  size_t begin = 0;
  size_t bytes = 0;       // 0 once merged into its left neighbour
  int32_t token = -1;     // for the caller: what the stretch is; -1 for nothing known
  bool frozen = false;    // takes part in no merge
  int32_t previous = -1;  // indexes of the neighbours that still hold text; -1 at the ends
  int32_t next = -1;
};

struct BpeMerge {
  double priority;  // larger merges first
  int32_t token;    // of the merged stretch
};

// Merges `symbols`, which follow each other in one text. `find_merge(left, right)` gives an
// std::optional<BpeMerge>; it is asked once for each pair that becomes adjacent.
template <typename FindMerge>
void MergeSymbols(std::vector<BpeSymbol>& symbols, FindMerge&& find_merge) {
  struct Candidate {
    double priority;
    int32_t left, right;
    int32_t token;
    size_t bytes;  // of both when queued; differs later when either has merged since

    bool operator<(const Candidate& other) const {
      return priority != other.priority ? priority < other.priority : left > other.left;
    }
  };
  const int32_t count = static_cast<int32_t>(symbols.size());
  for (int32_t i = 0; i < count; ++i) {
    symbols[i].previous = i - 1;
    symbols[i].next = i + 1 < count ? i + 1 : -1;
  }
  std::vector<Candidate> heap;
  const auto consider = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0 || symbols[left].frozen || symbols[right].frozen) return;
    const std::optional<BpeMerge> merge = find_merge(symbols[left], symbols[right]);
    if (!merge) return;
    heap.push_back(
        {merge->priority, left, right, merge->token, symbols[left].bytes + symbols[right].bytes});
    std::push_heap(heap.begin(), heap.end());
  };
  for (int32_t i = 1; i < count; ++i) consider(i - 1, i);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate best = heap.back();
    heap.pop_back();
    BpeSymbol& left = symbols[best.left];
    BpeSymbol& right = symbols[best.right];
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != best.bytes) continue;
    left.bytes += right.bytes;
    left.token = best.token;
    left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) symbols[left.next].previous = best.left;
    consider(left.previous, best.left);
    consider(best.left, left.next);
  }
}

}  // namespace trencadis::tokenizers

#endif  // TRENCADIS_MODELS_TOKENIZERS_BPE_MERGE_H_
