#include "training/data/dataset.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/zoo/causal_lm.h"
#include "runtime/core/philox.h"

namespace trencadis::training {
namespace {

constexpr int32_t kPaddingSegment = -1;

int64_t PaddedLength(absl::Span<const Example* const> examples, const CollateOptions& options) {
  int64_t length = options.pad_to_length;
  for (const Example* example : examples) {
    length = std::max(length, static_cast<int64_t>(example->ids.size()));
  }
  return (length + options.pad_to_multiple - 1) / options.pad_to_multiple * options.pad_to_multiple;
}

// Whether some row needs segments: it is shorter than the batch or holds several documents.
bool NeedsSegments(absl::Span<const Example* const> examples, int64_t length) {
  return std::any_of(examples.begin(), examples.end(), [&](const Example* example) {
    return static_cast<int64_t>(example->ids.size()) < length || !example->segments.empty();
  });
}

// A uniform number below `bound` from 64 random bits (Lemire, 2019, without the rejection: the bias
// is below 2^-30 for any number of records).
int64_t Below(int64_t bound, uint64_t bits) {
  return static_cast<int64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

}  // namespace

HostBatch Collate(absl::Span<const Example* const> examples, int64_t first_sample,
                  const CollateOptions& options) {
  const auto rows = static_cast<int64_t>(examples.size());
  const int64_t length = PaddedLength(examples, options);
  const TensorType type{DType::kI32, Shape{rows, length}};
  HostBatch batch;
  batch.ids = Literal(type);
  batch.labels = Literal(type);
  batch.samples = Literal({DType::kI32, Shape{rows}});
  batch.num_samples = rows;
  const bool has_segments = NeedsSegments(examples, length);
  const bool has_positions = std::any_of(examples.begin(), examples.end(),
                                         [](const Example* e) { return !e->positions.empty(); });
  if (has_segments) batch.segments = Literal(type);
  if (has_positions) batch.positions = Literal(type);
  std::fill_n(batch.ids.data<int32_t>().begin(), rows * length, options.pad_token);
  std::fill_n(batch.labels.data<int32_t>().begin(), rows * length,
              static_cast<int32_t>(zoo::kIgnoredLabel));
  for (int64_t row = 0; row < rows; ++row) {
    const Example& example = *examples[row];
    const auto size = static_cast<int64_t>(example.ids.size());
    batch.samples.data<int32_t>()[row] = static_cast<int32_t>(first_sample + row);
    std::copy(example.ids.begin(), example.ids.end(),
              batch.ids.data<int32_t>().begin() + row * length);
    for (int64_t t = 0; t + 1 < size; ++t) {
      // A document's last token has no successor of its own.
      const bool same_document =
          example.segments.empty() || example.segments[t] == example.segments[t + 1];
      if (!same_document || example.labels[t + 1] == zoo::kIgnoredLabel) continue;
      batch.labels.data<int32_t>()[row * length + t] = example.labels[t + 1];
      ++batch.target_tokens;
    }
    for (int64_t t = 0; t < length && has_segments; ++t) {
      int32_t segment = t < size ? 0 : kPaddingSegment;
      if (t < size && !example.segments.empty()) segment = example.segments[t];
      batch.segments->data<int32_t>()[row * length + t] = segment;
    }
    for (int64_t t = 0; t < length && has_positions; ++t) {
      const bool given = t < size && !example.positions.empty();
      batch.positions->data<int32_t>()[row * length + t] =
          given ? example.positions[t] : static_cast<int32_t>(t);
    }
  }
  return batch;
}

std::vector<int64_t> EpochOrder(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32)};
  for (int64_t i = count - 1; i > 0; --i) {
    const auto words = Philox(
        {static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), static_cast<uint32_t>(epoch), 1},
        key);
    const uint64_t bits = static_cast<uint64_t>(words[0]) << 32 | words[1];
    std::swap(order[i], order[Below(i + 1, bits)]);
  }
  return order;
}

}  // namespace trencadis::training
