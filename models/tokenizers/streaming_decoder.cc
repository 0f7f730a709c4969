#include <string>

#include "absl/strings/match.h"
#include "models/tokenizers/tokenizer.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers {

absl::StatusOr<std::string> StreamingDecoder::Append(int32_t id) {
  if (!tokenizer_.IsSpecial(id)) {
    ids_.push_back(id);
    return Advance(/*finish=*/false);
  }
  if (options_.skip_special_tokens) return std::string();
  // A special token ends whatever was incomplete before it, and is no context for what follows.
  TRENCADIS_ASSIGN_OR_RETURN(const std::string rest, Advance(/*finish=*/true));
  ids_.clear();
  context_ = emitted_ = 0;
  return rest + tokenizer_.TokenText(id);
}

absl::StatusOr<std::string> StreamingDecoder::Finish() { return Advance(/*finish=*/true); }

absl::StatusOr<std::string> StreamingDecoder::Advance(bool finish) {
  const absl::Span<const int32_t> ids(ids_);
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::string before,
      tokenizer_.Decode(ids.subspan(context_, emitted_ - context_), options_));
  TRENCADIS_ASSIGN_OR_RETURN(const std::string now,
                             tokenizer_.Decode(ids.subspan(context_), options_));
  const bool incomplete = absl::EndsWith(now, kReplacementCharacter);
  if (now.size() <= before.size() || (incomplete && !finish)) return std::string();
  // Some tokens read as nothing at the start of a text (a lone space); one that does would be no
  // context, and the tokens after it would read differently.
  TRENCADIS_ASSIGN_OR_RETURN(const std::string next_context,
                             tokenizer_.Decode(ids.subspan(emitted_), options_));
  if (!next_context.empty()) context_ = emitted_;
  emitted_ = ids_.size();
  return now.substr(before.size());
}

}  // namespace trencadis::tokenizers
