// The whole way from a command line to a tool's options: what a tool's main calls.
//
//   TRENCADIS_ASSIGN_OR_RETURN(const auto loaded, schema::Load<schema::RunClm>({argv + 1, argv +
//   argc})); if (loaded.help.has_value()) { std::cout << *loaded.help; return 0; } for (const
//   std::string& warning : loaded.warnings) log it once
//   ... loaded.options.training().learning_rate() ...
#ifndef TRENCADIS_API_SCHEMA_LOAD_H_
#define TRENCADIS_API_SCHEMA_LOAD_H_

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/schema/defaults.h"
#include "runtime/base/status.h"

namespace trencadis::schema {

template <typename Tool>
struct Loaded {
  // What the user gave, and that with all defaults.
  Tool given;
  Tool options;
  // To be printed once each: how the command line was read, options without effect.
  std::vector<std::string> warnings;
  // Set if -h was given; then nothing else is.
  std::optional<std::string> help;
};

// What Load does before types come in: parses into `given`, validates, returns warnings and help.
struct LoadNotes {
  std::vector<std::string> warnings;
  std::optional<std::string> help;
};
absl::StatusOr<LoadNotes> ParseAndValidate(const std::vector<std::string>& args,
                                           google::protobuf::Message* given);

// Reads, validates and resolves a command line (without the program's name). INVALID_ARGUMENT or
// NOT_FOUND with what the user must change: exit code 2.
template <typename Tool>
absl::StatusOr<Loaded<Tool>> Load(const std::vector<std::string>& args) {
  Loaded<Tool> loaded;
  TRENCADIS_ASSIGN_OR_RETURN(LoadNotes notes, ParseAndValidate(args, &loaded.given));
  loaded.warnings = std::move(notes.warnings);
  loaded.help = std::move(notes.help);
  if (!loaded.help.has_value()) loaded.options = Resolved(loaded.given);
  return loaded;
}

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_LOAD_H_
