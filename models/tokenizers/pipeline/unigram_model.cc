#include "models/tokenizers/pipeline/unigram_model.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/tokenizers/pipeline/vocabulary.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

using Json = nlohmann::json;

// An unknown character is this much less likely than the least likely piece (kUnkPenalty in
// SentencePiece and tokenizers).
constexpr double kUnknownPenalty = 10;

class UnigramModel : public TokenModel {
 public:
  UnigramModel(std::vector<std::string> pieces, std::vector<double> scores,
               std::optional<int32_t> unk, bool byte_fallback)
      : vocabulary_(std::move(pieces)), scores_(std::move(scores)), unk_(unk) {
    double least = std::numeric_limits<double>::max();
    for (int32_t id = 0; id < vocabulary_.size(); ++id) {
      longest_bytes_ = std::max(longest_bytes_, vocabulary_.Text(id).size());
      least = std::min(least, scores_[id]);
    }
    unknown_score_ = least - kUnknownPenalty;
    for (int byte = 0; byte_fallback && byte < 256; ++byte) {
      byte_ids_.push_back(vocabulary_.Find(absl::StrFormat("<0x%02X>", byte)).value_or(-1));
    }
  }

  void Append(absl::string_view word, std::vector<int32_t>& ids) const override {
    absl::string_view unknown;  // the run of unknown characters before the piece
    for (const Step& step : BestSegmentation(word)) {
      const absl::string_view piece = word.substr(step.begin, step.end - step.begin);
      if (step.id == unk_) {
        unknown = {unknown.empty() ? piece.data() : unknown.data(), unknown.size() + piece.size()};
        continue;
      }
      AppendUnknown(std::exchange(unknown, {}), ids);
      ids.push_back(step.id);
    }
    AppendUnknown(unknown, ids);
  }

  int32_t size() const override { return vocabulary_.size(); }
  std::string TokenText(int32_t id) const override { return std::string(vocabulary_.Text(id)); }
  std::optional<int32_t> Find(absl::string_view token) const override {
    return vocabulary_.Find(token);
  }

 private:
  struct Step {
    size_t begin;
    size_t end;
    int32_t id;
  };
  // The best way to reach a position in the word.
  struct Node {
    double score = -std::numeric_limits<double>::infinity();
    size_t begin = 0;
    int32_t id = -1;  // -1: not reached yet
  };

  std::vector<Step> BestSegmentation(absl::string_view word) const {
    std::vector<Node> best(word.size() + 1);
    best[0].score = 0;
    for (size_t begin = 0; begin < word.size();) {
      const size_t first = std::max<size_t>(1, CharacterBytes(word.substr(begin)));
      bool has_single = false;
      for (size_t bytes = first; begin + bytes <= word.size() && bytes <= longest_bytes_;) {
        if (const std::optional<int32_t> id = Find(word.substr(begin, bytes))) {
          Offer(best, begin, begin + bytes, *id, scores_[*id]);
          has_single = has_single || bytes == first;
        }
        const size_t next = CharacterBytes(word.substr(begin + bytes));
        if (next == 0) break;
        bytes += next;
      }
      if (!has_single && unk_) Offer(best, begin, begin + first, *unk_, unknown_score_);
      begin += first;
    }
    std::vector<Step> steps;
    for (size_t end = word.size(); end > 0 && best[end].id >= 0; end = best[end].begin) {
      steps.push_back({best[end].begin, end, best[end].id});
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  static void Offer(std::vector<Node>& best, size_t begin, size_t end, int32_t id, double score) {
    const double total = best[begin].score + score;
    if (best[end].id < 0 || total > best[end].score) best[end] = {total, begin, id};
  }

  void AppendUnknown(absl::string_view run, std::vector<int32_t>& ids) const {
    if (run.empty()) return;
    // A run may be a piece that the best segmentation passed over.
    if (const std::optional<int32_t> id = Find(run)) return ids.push_back(*id);
    std::vector<int32_t> bytes;
    for (char c : run) {
      if (!byte_ids_.empty()) bytes.push_back(byte_ids_[static_cast<uint8_t>(c)]);
    }
    const bool whole =
        bytes.size() == run.size() && std::find(bytes.begin(), bytes.end(), -1) == bytes.end();
    if (!whole) return ids.push_back(*unk_);
    ids.insert(ids.end(), bytes.begin(), bytes.end());
  }

  Vocabulary vocabulary_;
  std::vector<double> scores_;
  std::optional<int32_t> unk_;
  size_t longest_bytes_ = 0;
  double unknown_score_ = 0;
  std::vector<int32_t> byte_ids_;  // empty without byte fallback; -1 where a byte has no piece
};

}  // namespace

absl::StatusOr<std::unique_ptr<TokenModel>> ParseUnigramModel(checkpoint::JsonFields& fields) {
  std::optional<int64_t> unk;
  bool byte_fallback = false;
  fields.OptionalInt("unk_id", unk);
  fields.Bool("byte_fallback", byte_fallback);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  std::vector<std::string> pieces;
  std::vector<double> scores;
  for (const Json& entry : fields.Take("vocab")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      return absl::InvalidArgumentError(absl::StrCat("the vocabulary holds ",
                                                     checkpoint::ShortText(entry),
                                                     "; wanted [piece, log probability]"));
    }
    pieces.push_back(entry[0].get<std::string>());
    scores.push_back(entry[1].get<double>());
  }
  if (pieces.empty()) return absl::InvalidArgumentError("the vocabulary is empty");
  if (unk && (*unk < 0 || *unk >= static_cast<int64_t>(pieces.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"unk_id\" is ", *unk, "; there are ", pieces.size(), " pieces"));
  }
  return std::make_unique<UnigramModel>(
      std::move(pieces), std::move(scores),
      unk ? std::optional<int32_t>(static_cast<int32_t>(*unk)) : std::nullopt, byte_fallback);
}

}  // namespace trencadis::tokenizers::pipeline
