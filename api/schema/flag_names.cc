#include "api/schema/flag_names.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/schema/nearest.h"
#include "api/schema/value_text.h"

namespace trencadis::schema {
namespace {

// "--learning-rate" -> "--learning_rate"; leading dashes stay.
std::string Normalised(absl::string_view flag) {
  std::string text(flag);
  const size_t start = std::min(text.find_first_not_of('-'), text.size());
  std::replace(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), '-', '_');
  return text;
}

}  // namespace

FlagNames::FlagNames(const Catalog& catalog) : tool_name_(catalog.tool_name()) {
  Add("--help", {FlagMeaning::kHelp}, /*extension=*/false);
  Add("-h", {FlagMeaning::kHelp}, /*extension=*/false);
  Add("--config", {FlagMeaning::kConfig}, /*extension=*/true);
  for (const Option& option : catalog.options()) {
    const FlagMeaning meaning{FlagMeaning::kOption, &option};
    const bool extension = option.spec.extension();
    Add(absl::StrCat("--", option.name()), meaning, extension);
    for (const std::string& alias : option.spec.aliases()) Add(alias, meaning, extension);
    if (option.is_bool() && ParseBool(option.spec.default_value()) == true) {
      Add(absl::StrCat("--no_", option.name()), {FlagMeaning::kOption, &option, /*negated=*/true},
          extension);
    }
  }
}

void FlagNames::Add(absl::string_view text, const FlagMeaning& meaning, bool extension) {
  spellings_.push_back({Normalised(text), meaning, extension});
}

std::vector<const FlagNames::Spelling*> FlagNames::Abbreviated(absl::string_view prefix,
                                                               bool extension) const {
  std::vector<const Spelling*> found;
  for (const Spelling& spelling : spellings_) {
    if (spelling.extension != extension || !absl::StartsWith(spelling.text, prefix)) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const Spelling* other) {
      return other->meaning.kind == spelling.meaning.kind &&
             other->meaning.option == spelling.meaning.option &&
             other->meaning.negated == spelling.meaning.negated;
    });
    if (!known) found.push_back(&spelling);
  }
  return found;
}

absl::StatusOr<FlagMeaning> FlagNames::Resolve(absl::string_view flag) const {
  const std::string name = Normalised(flag);
  std::vector<std::string> texts;
  for (const Spelling& spelling : spellings_) {
    if (spelling.text == name) return spelling.meaning;
    texts.push_back(spelling.text);
  }
  if (absl::StartsWith(name, "--") && name.size() > 2) {
    for (const bool extension : {false, true}) {
      const std::vector<const Spelling*> found = Abbreviated(name, extension);
      if (found.size() == 1) return found[0]->meaning;
      if (found.size() > 1) {
        const auto text = [](std::string* out, const Spelling* s) { out->append(s->text); };
        return absl::InvalidArgumentError(absl::StrCat("ambiguous flag ", flag, ": it abbreviates ",
                                                       absl::StrJoin(found, ", ", text),
                                                       "; write more of the name"));
      }
    }
  }
  const std::string hint = DidYouMean(name, texts);
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", flag, hint.empty() ? "; " : hint + " ", tool_name_, " -h lists all flags"));
}

}  // namespace trencadis::schema
