#include "models/tokenizers/sentencepiece_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {
namespace {

constexpr absl::string_view kSpace(kSpaceSymbol.data(), kSpaceSymbol.size());

std::string_view Std(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(std::unique_ptr<SentencePieceModel> model,
                                               SentencePieceOptions options)
    : model_(std::move(model)), options_(std::move(options)), vocab_size_(model_->size()) {
  const auto& added = options_.added.tokens();
  if (!added.empty()) vocab_size_ = std::max<int64_t>(vocab_size_, added.rbegin()->first + 1);
}

absl::StatusOr<std::vector<int32_t>> SentencePieceTokenizer::Encode(
    absl::string_view text, const EncodeOptions& options) const {
  TRENCADIS_RETURN_IF_ERROR(CheckUtf8(text));
  const SpecialTokens& special = options_.special;
  std::vector<int32_t> ids;
  if (options.add_special_tokens && options_.add_bos && special.bos) ids.push_back(*special.bos);
  const std::vector<int32_t> inner = EncodeText(text, options.parse_special_tokens);
  ids.insert(ids.end(), inner.begin(), inner.end());
  if (options.add_special_tokens && options_.add_eos && special.eos) ids.push_back(*special.eos);
  return ids;
}

std::vector<int32_t> SentencePieceTokenizer::EncodeText(absl::string_view text,
                                                        bool parse_special) const {
  if (text.empty()) return {};
  const std::string prefixed = options_.legacy ? "" : absl::StrCat(kSpace, text);
  std::vector<int32_t> ids;
  for (const TextPart& part :
       options_.added.Split(options_.legacy ? text : absl::string_view(prefixed), parse_special)) {
    if (part.id) {
      ids.push_back(*part.id);
      continue;
    }
    const std::vector<int32_t> inner = EncodePart(part.text);
    ids.insert(ids.end(), inner.begin(), inner.end());
  }
  // The space put before the text was for text only.
  if (!options_.legacy && ids.size() > 1 && IsSpecial(ids[1]) &&
      ids[0] == model_->Find(kSpaceSymbol)) {
    ids.erase(ids.begin());
  }
  return ids;
}

std::vector<int32_t> SentencePieceTokenizer::EncodePart(const std::string& text) const {
  if (options_.legacy || !(absl::StartsWith(text, " ") || absl::StartsWith(text, kSpace))) {
    return model_->Encode(text);
  }
  // A model may drop spaces at the start of a text; behind another token it keeps one.
  const std::string guard = options_.special.unk ? TokenText(*options_.special.unk) : "";
  std::vector<int32_t> ids = model_->Encode(guard + text);
  ids.erase(ids.begin(), ids.begin() + std::min(ids.size(), model_->Encode(guard).size()));
  return ids;
}

absl::StatusOr<std::string> SentencePieceTokenizer::Decode(absl::Span<const int32_t> ids,
                                                           const DecodeOptions& options) const {
  // Added tokens that are not special stand apart, with a space on either side
  // (PreTrainedTokenizer._decode).
  std::vector<std::string> texts;
  std::vector<int32_t> run;
  const auto end_run = [&] {
    if (run.empty()) return;
    std::string text = DecodeRun(run);
    if (!text.empty()) texts.push_back(std::move(text));
    run.clear();
  };
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab_size_) {
      return absl::OutOfRangeError(
          absl::StrCat("token id ", id, " is outside the vocabulary of ", vocab_size_));
    }
    const AddedToken* added = options_.added.Find(id);
    if (options.skip_special_tokens && IsSpecial(id)) continue;
    if (added != nullptr && !IsSpecial(id)) {
      end_run();
      texts.push_back(added->content);
    } else {
      run.push_back(id);
    }
  }
  end_run();
  return absl::StrJoin(texts, " ");
}

std::string SentencePieceTokenizer::DecodeRun(absl::Span<const int32_t> ids) const {
  std::string text;
  std::vector<std::string> pieces;
  bool after_special = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool special = IsSpecial(ids[i]);
    if (special) {
      if (options_.legacy && i != 0 && !after_special) text += ' ';
      absl::StrAppend(&text, model_->Decode(pieces), TokenText(ids[i]));
      pieces.clear();
    } else {
      std::string piece = TokenText(ids[i]);
      if (i == 0 && absl::StartsWith(piece, kSpace)) piece.erase(0, kSpace.size());
      pieces.push_back(std::move(piece));
    }
    after_special = special;
  }
  return text + model_->Decode(pieces);
}

bool SentencePieceTokenizer::IsSpecial(int32_t id) const {
  const SpecialTokens& special = options_.special;
  if (id == special.bos || id == special.eos || id == special.pad || id == special.unk) return true;
  const AddedToken* added = options_.added.Find(id);
  return added != nullptr && added->special;
}

std::string SentencePieceTokenizer::TokenText(int32_t id) const {
  if (const AddedToken* added = options_.added.Find(id)) return added->content;
  return id >= 0 && id < model_->size() ? model_->Piece(id) : "";
}

std::optional<int32_t> SentencePieceTokenizer::FindToken(absl::string_view token_text) const {
  if (const auto id = options_.added.FindContent(token_text)) return id;
  return model_->Find(Std(token_text));
}

}  // namespace trencadis::tokenizers
