// Command lines as Hugging Face users type them, to messages and back.
//
// Accepted, as by HfArgumentParser: `--flag value`, `--flag=value`, bare booleans, True/False/1/0
// in any case, `--no_flag` and `--no-flag` where the default is true, lists separated by spaces,
// dashes for underscores, unambiguous abbreviations, negative and scientific numbers, the last of
// repeated flags, and one .json file in place of all flags. Beyond that: `--config file.json`
// beside flags, which win over it; quotes inside quotes ('"3.0.0"') are taken off once more, as
// upstream's launcher does.
//
// Nothing is validated here beyond the type of a value; see validate.h.
#ifndef TRENCADIS_API_SCHEMA_FLAGS_H_
#define TRENCADIS_API_SCHEMA_FLAGS_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace trencadis::schema {

struct ParsedFlags {
  // -h or --help was among the arguments; the message is then untouched.
  bool help_requested = false;
  // What the user should know about how the command line was read.
  std::vector<std::string> notes;
};

// Reads `args` (without the program's name) into `message`, the message of a tool, which keeps
// what it holds for options that are not among the arguments. INVALID_ARGUMENT names the flag,
// what it got and what it wants; NOT_FOUND a file that cannot be read.
absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const std::string> args,
                                       google::protobuf::Message* message);

// The command line that gives `message`, with one argument per element of a list and booleans
// spelled out: ParseFlags of it is `message` again.
absl::StatusOr<std::vector<std::string>> ToFlags(const google::protobuf::Message& message);

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_FLAGS_H_
