#include "api/schema/flags.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/schema/catalog.h"
#include "api/schema/config_file.h"
#include "api/schema/flag_names.h"
#include "api/schema/spec.h"
#include "api/schema/value_text.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::Message;

// One flag of a command line with its values, not yet read.
struct Occurrence {
  const Option* option;
  std::string flag;
  std::vector<std::string> values;
};

// argparse: an argument that starts with a dash is a flag unless it is a number or has a space.
bool LooksLikeFlag(absl::string_view arg) {
  if (arg.size() < 2 || arg[0] != '-') return false;
  double number = 0;
  const bool numeric = arg[1] == '.' || (arg[1] >= '0' && arg[1] <= '9');
  if (numeric && absl::SimpleAtod(arg, &number)) return false;
  return !absl::StrContains(arg.substr(0, arg.find('=')), ' ');
}

// "\"3.0.0\"" -> "3.0.0".
absl::string_view WithoutQuotes(absl::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Splits a command line into occurrences; values are attached but not read.
class Splitter {
 public:
  Splitter(const Catalog& catalog, absl::Span<const std::string> args)
      : names_(catalog), args_(args) {}

  absl::Status Run() {
    while (next_ < args_.size()) {
      TRENCADIS_RETURN_IF_ERROR(ReadFlag());
      if (help_requested) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  bool help_requested = false;
  std::vector<std::string> notes;
  std::vector<std::string> config_files;
  std::vector<Occurrence> occurrences;

 private:
  bool NextIsValue() const { return next_ < args_.size() && !LooksLikeFlag(args_[next_]); }

  absl::Status ReadFlag() {
    const absl::string_view arg = args_[next_++];
    if (!LooksLikeFlag(arg)) {
      return absl::InvalidArgumentError(
          absl::StrCat("got \"", arg, "\" where a flag was wanted; flags start with --, ",
                       "and a .json file in their place stands alone"));
    }
    const size_t equals = absl::StartsWith(arg, "--") ? arg.find('=') : absl::string_view::npos;
    const std::string flag(arg.substr(0, equals));
    std::optional<std::string> value;
    if (equals != absl::string_view::npos) value = std::string(arg.substr(equals + 1));

    TRENCADIS_ASSIGN_OR_RETURN(const FlagMeaning meaning, names_.Resolve(flag));
    if (meaning.kind == FlagMeaning::kHelp) {
      help_requested = true;
      return absl::OkStatus();
    }
    if (meaning.kind == FlagMeaning::kConfig) {
      if (!value.has_value() && !NextIsValue()) {
        return absl::InvalidArgumentError("--config: wanted the name of a JSON file");
      }
      config_files.push_back(value.has_value() ? *value : args_[next_++]);
      return absl::OkStatus();
    }
    if (meaning.negated) return ReadNegation(meaning, flag, value);
    if (value.has_value()) {
      occurrences.push_back({meaning.option, flag, {*value}});
      return absl::OkStatus();
    }
    return meaning.option->is_bool() ? ReadBool(*meaning.option, flag)
                                     : ReadValues(*meaning.option, flag);
  }

  absl::Status ReadNegation(const FlagMeaning& meaning, const std::string& flag,
                            const std::optional<std::string>& value) {
    if (value.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": got \"", *value,
                                                     "\", wanted no value; use --",
                                                     meaning.option->name(), " true or false"));
    }
    occurrences.push_back({meaning.option, flag, {"false"}});
    return absl::OkStatus();
  }

  absl::Status ReadBool(const Option& option, const std::string& flag) {
    if (!NextIsValue()) {
      occurrences.push_back({&option, flag, {"true"}});
      return absl::OkStatus();
    }
    // Two flags written as one, as in `--torch_compile use_regional_compilation`.
    const absl::StatusOr<FlagMeaning> second = names_.Resolve(absl::StrCat("--", args_[next_]));
    const bool two_flags = second.ok() && second->option != nullptr && !second->negated &&
                           second->option->is_bool() && second->option->name() == args_[next_];
    if (two_flags) {
      notes.push_back(
          absl::StrCat(flag, " ", args_[next_], " is read as ", flag, " --", args_[next_]));
      occurrences.push_back({&option, flag, {"true"}});
      occurrences.push_back({second->option, absl::StrCat("--", args_[next_]), {"true"}});
    } else {
      occurrences.push_back({&option, flag, {args_[next_]}});
    }
    ++next_;
    return absl::OkStatus();
  }

  absl::Status ReadValues(const Option& option, const std::string& flag) {
    Occurrence occurrence{&option, flag, {}};
    const bool list = option.field()->is_repeated();
    while (NextIsValue() && (list || occurrence.values.empty())) {
      occurrence.values.push_back(args_[next_++]);
    }
    if (occurrence.values.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": got no value, wanted ", Wanted(option.field(), option.spec)));
    }
    occurrences.push_back(std::move(occurrence));
    return absl::OkStatus();
  }

  FlagNames names_;
  absl::Span<const std::string> args_;
  size_t next_ = 0;
};

absl::Status Apply(const Occurrence& occurrence, Message* message) {
  const Option& option = *occurrence.option;
  Message* holder = option.Mutable(message);
  holder->GetReflection()->ClearField(holder, option.field());
  // Python's None for a switch with three states leaves it unset.
  const bool none = option.is_bool() && !option.spec.has_default_value() &&
                    absl::EqualsIgnoreCase(occurrence.values[0], "none");
  if (none) return absl::OkStatus();
  for (const std::string& value : occurrence.values) {
    const absl::string_view text = option.spec.verbatim() ? value : WithoutQuotes(value);
    TRENCADIS_RETURN_IF_ERROR(Annotate(SetFromText(holder, option.field(), text), occurrence.flag));
  }
  return absl::OkStatus();
}

// The inverse of Apply. Quotes protect a text that would lose its own or look like a flag.
absl::Status AppendFlag(const Option& option, std::vector<std::string> values,
                        std::vector<std::string>* args) {
  const bool list = option.field()->is_repeated();
  for (std::string& value : values) {
    if (option.spec.verbatim()) {
      if (values.size() > 1 && LooksLikeFlag(value)) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", option.name(), ": \"", value,
                         "\" looks like a flag and cannot be one of several values; use JSON"));
      }
    } else if (WithoutQuotes(value).size() < value.size() || (list && LooksLikeFlag(value))) {
      value = absl::StrCat("\"", value, "\"");
    }
  }
  if (values.size() == 1) {
    args->push_back(absl::StrCat("--", option.name(), "=", values[0]));
  } else if (!values.empty()) {
    args->push_back(absl::StrCat("--", option.name()));
    args->insert(args->end(), values.begin(), values.end());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const std::string> args, Message* message) {
  TRENCADIS_ASSIGN_OR_RETURN(const Catalog* catalog, Catalog::Of(message->GetDescriptor()));
  if (args.size() == 1 && !LooksLikeFlag(args[0]) && absl::EndsWith(args[0], ".json")) {
    TRENCADIS_RETURN_IF_ERROR(ReadConfigFile(args[0], message));
    return ParsedFlags();
  }
  Splitter splitter(*catalog, args);
  TRENCADIS_RETURN_IF_ERROR(splitter.Run());
  if (!splitter.help_requested) {
    for (const std::string& file : splitter.config_files) {
      TRENCADIS_RETURN_IF_ERROR(ReadConfigFile(file, message));
    }
    for (const Occurrence& occurrence : splitter.occurrences) {
      TRENCADIS_RETURN_IF_ERROR(Apply(occurrence, message));
    }
  }
  return ParsedFlags{splitter.help_requested, std::move(splitter.notes)};
}

absl::StatusOr<std::vector<std::string>> ToFlags(const Message& message) {
  TRENCADIS_ASSIGN_OR_RETURN(const Catalog* catalog, Catalog::Of(message.GetDescriptor()));
  std::vector<std::string> args;
  for (const Option& option : catalog->options()) {
    const Message* holder = option.Find(message);
    if (holder == nullptr) continue;
    TRENCADIS_RETURN_IF_ERROR(AppendFlag(option, ValuesAsText(*holder, option.field()), &args));
  }
  return args;
}

}  // namespace trencadis::schema
