#include "training/data/rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/zoo/causal_lm.h"
#include "runtime/base/status.h"

namespace trencadis::training {
namespace {

absl::StatusOr<std::vector<int32_t>> Tokens(const tokenizers::Tokenizer& tokenizer,
                                            const std::string& text, size_t record) {
  absl::StatusOr<std::vector<int32_t>> ids = tokenizer.Encode(text);
  if (!ids.ok()) return Annotate(ids.status(), absl::StrCat("record ", record));
  return ids;
}

}  // namespace

absl::StatusOr<std::vector<Example>> TextBlocks(absl::Span<const Record> records,
                                                const tokenizers::Tokenizer& tokenizer,
                                                int64_t block_size) {
  std::vector<int32_t> all;
  for (size_t i = 0; i < records.size(); ++i) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                               Tokens(tokenizer, records[i].prompt + records[i].completion, i));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  std::vector<Example> blocks;
  for (size_t at = 0; at + block_size <= all.size(); at += block_size) {
    std::vector<int32_t> ids(all.begin() + at, all.begin() + at + block_size);
    blocks.push_back({ids, ids, {}, {}});
  }
  return blocks;
}

absl::StatusOr<std::vector<Example>> RecordRows(absl::Span<const Record> records,
                                                const tokenizers::Tokenizer& tokenizer,
                                                int64_t max_length, bool train_on_prompts) {
  std::vector<Example> rows;
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    Example row;
    TRENCADIS_ASSIGN_OR_RETURN(row.ids, Tokens(tokenizer, record.prompt + record.completion, i));
    const std::optional<int32_t> eos = tokenizer.special_tokens().eos;
    if (eos.has_value() && (row.ids.empty() || row.ids.back() != *eos)) row.ids.push_back(*eos);
    row.ids.resize(std::min<size_t>(row.ids.size(), max_length));
    row.labels = row.ids;
    if (!train_on_prompts && !record.prompt.empty()) {
      TRENCADIS_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt,
                                 Tokens(tokenizer, record.prompt, i));
      std::fill_n(row.labels.begin(), std::min(prompt.size(), row.labels.size()),
                  static_cast<int32_t>(zoo::kIgnoredLabel));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Example> PackRows(absl::Span<const Example> rows, int64_t length) {
  std::vector<Example> packed;
  int32_t document = 0;
  for (const Example& row : rows) {
    const auto size = static_cast<int64_t>(row.ids.size());
    if (packed.empty() || static_cast<int64_t>(packed.back().ids.size()) + size > length) {
      packed.emplace_back();
      document = 0;
    }
    Example& target = packed.back();
    target.ids.insert(target.ids.end(), row.ids.begin(), row.ids.end());
    target.labels.insert(target.labels.end(), row.labels.begin(), row.labels.end());
    target.segments.insert(target.segments.end(), row.ids.size(), document++);
    for (int32_t position = 0; position < size; ++position) target.positions.push_back(position);
  }
  return packed;
}

}  // namespace trencadis::training
