#include "api/schema/load.h"

#include <utility>

#include "api/schema/flags.h"
#include "api/schema/help.h"
#include "api/schema/validate.h"

namespace trencadis::schema {

absl::StatusOr<LoadNotes> ParseAndValidate(const std::vector<std::string>& args,
                                           google::protobuf::Message* given) {
  LoadNotes notes;
  TRENCADIS_ASSIGN_OR_RETURN(ParsedFlags flags, ParseFlags(args, given));
  if (flags.help_requested) {
    TRENCADIS_ASSIGN_OR_RETURN(notes.help, HelpText(given->GetDescriptor()));
    return notes;
  }
  TRENCADIS_RETURN_IF_ERROR(Validate(*given));
  notes.warnings = std::move(flags.notes);
  for (std::string& warning : Warnings(*given)) notes.warnings.push_back(std::move(warning));
  return notes;
}

}  // namespace trencadis::schema
