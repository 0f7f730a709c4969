// Which option a flag means: exact names, aliases, negations and abbreviations, as Python's
// argparse resolves them for transformers' HfArgumentParser.
#ifndef TRENCADIS_API_SCHEMA_FLAG_NAMES_H_
#define TRENCADIS_API_SCHEMA_FLAG_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/schema/catalog.h"

namespace trencadis::schema {

struct FlagMeaning {
  enum Kind { kOption, kHelp, kConfig };
  Kind kind = kOption;
  // Of an option: which one, and whether the flag switches it off (--no_use_cache).
  const Option* option = nullptr;
  bool negated = false;
};

// Immutable; holds pointers into the catalog, which lives as long as the program.
class FlagNames {
 public:
  explicit FlagNames(const Catalog& catalog);

  // `flag` is the part before "=", dashes included. "-" and "_" are the same inside a name. An
  // abbreviation of names that upstream has as well resolves as it does there, whatever else this
  // program adds. INVALID_ARGUMENT for an unknown or ambiguous flag, with the nearest name.
  absl::StatusOr<FlagMeaning> Resolve(absl::string_view flag) const;

 private:
  struct Spelling {
    std::string text;
    FlagMeaning meaning;
    bool extension = false;
  };

  void Add(absl::string_view text, const FlagMeaning& meaning, bool extension);
  // Spellings that `prefix` abbreviates, one per meaning.
  std::vector<const Spelling*> Abbreviated(absl::string_view prefix, bool extension) const;

  std::string tool_name_;
  std::vector<Spelling> spellings_;
};

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_FLAG_NAMES_H_
