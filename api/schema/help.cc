#include "api/schema/help.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/schema/catalog.h"
#include "api/schema/spec.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::FieldDescriptor;

constexpr size_t kColumns = 100;
constexpr size_t kHelpColumn = 36;

// Options under one heading, in order of first appearance.
struct Section {
  std::string heading;
  std::vector<const Option*> options;
};

Section& SectionNamed(const std::string& heading, std::vector<Section>* sections) {
  for (Section& section : *sections) {
    if (section.heading == heading) return section;
  }
  return sections->emplace_back(Section{heading, {}});
}

// What the two renderings show: honoured options by group, the others by reason.
struct Layout {
  std::vector<Section> honoured, without_effect, refused;
};

Layout LayOut(const Catalog& catalog) {
  Layout layout;
  for (const Option& option : catalog.options()) {
    const OptionSpec& spec = option.spec;
    std::vector<Section>* sections = spec.status() == OptionSpec::REFUSED ? &layout.refused
                                     : spec.status() == OptionSpec::NO_EFFECT
                                         ? &layout.without_effect
                                         : &layout.honoured;
    const bool known = spec.status() == OptionSpec::HONOURED;
    SectionNamed(known ? spec.group() : spec.reason(), sections).options.push_back(&option);
  }
  return layout;
}

std::string TypeName(const Option& option) {
  const char* list = option.field()->is_repeated() ? " ..." : "";
  if (option.spec.choices_size() > 0) {
    return absl::StrCat(absl::StrJoin(HonouredChoices(option.spec), "|"), list);
  }
  switch (option.field()->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "[BOOL]";
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat("INT", list);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat("NUMBER", list);
    default:
      return absl::StrCat("TEXT", list);
  }
}

// "required", or the default; "" where there is neither.
std::string DefaultText(const OptionSpec& spec) {
  if (spec.required()) return "required";
  if (!spec.has_default_value()) return "";
  return spec.default_value().empty() ? "\"\"" : spec.default_value();
}

// "(default 8; at least 1; also -d)", or "".
std::string Facts(const OptionSpec& spec) {
  std::vector<std::string> facts;
  if (spec.required()) {
    facts.push_back("required");
  } else if (spec.has_default_value()) {
    facts.push_back(absl::StrCat("default ", DefaultText(spec)));
  }
  const std::string bounds = BoundsText(spec);
  if (!bounds.empty()) facts.push_back(bounds);
  if (spec.aliases_size() > 0) {
    facts.push_back(absl::StrCat("also ", absl::StrJoin(spec.aliases(), ", ")));
  }
  return facts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(facts, "; "), ")");
}

// Appends `text` in lines of at most kColumns, further lines indented; `column` is where the
// current line stands.
void AppendWrapped(absl::string_view text, size_t indent, size_t column, std::string* out) {
  bool fresh = true;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!fresh && column + 1 + word.size() > kColumns) {
      absl::StrAppend(out, "\n", std::string(indent, ' '));
      column = indent;
      fresh = true;
    }
    absl::StrAppend(out, fresh ? "" : " ", word);
    column += word.size() + (fresh ? 0 : 1);
    fresh = false;
  }
  absl::StrAppend(out, "\n");
}

void AppendFlagLine(absl::string_view flag, absl::string_view text, std::string* out) {
  std::string head = absl::StrCat("  ", flag);
  if (head.size() + 2 > kHelpColumn) {
    absl::StrAppend(out, head, "\n");
    head.clear();
  }
  absl::StrAppend(out, head, std::string(kHelpColumn - head.size(), ' '));
  AppendWrapped(text, kHelpColumn, kHelpColumn, out);
}

void AppendUnhonoured(absl::string_view heading, const std::vector<Section>& sections,
                      std::string* out) {
  if (sections.empty()) return;
  absl::StrAppend(out, "\n", heading, "\n");
  for (const Section& section : sections) {
    const auto name = [](std::string* text, const Option* option) {
      absl::StrAppend(text, "--", option->name());
    };
    absl::StrAppend(out, "  ");
    AppendWrapped(absl::StrCat(absl::StrJoin(section.options, ", ", name), ":"), 2, 2, out);
    absl::StrAppend(out, "      ");
    AppendWrapped(section.heading, 6, 6, out);
  }
}

// Text of a table cell.
std::string Cell(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"<", "&lt;"}});
}

std::string Code(const std::string& text) {
  return text.empty() ? "" : absl::StrCat("`", Cell(text), "`");
}

void AppendTable(const Section& section, std::string* out) {
  absl::StrAppend(out, "\n## ", section.heading, "\n\n",
                  "| Flag | Value | Default | Meaning |\n|---|---|---|---|\n");
  for (const Option* option : section.options) {
    std::string meaning = option->spec.help();
    const std::string bounds = BoundsText(option->spec);
    if (!bounds.empty()) absl::StrAppend(&meaning, " (", bounds, ")");
    if (option->spec.aliases_size() > 0) {
      absl::StrAppend(&meaning, " Also `", absl::StrJoin(option->spec.aliases(), "`, `"), "`.");
    }
    absl::StrAppend(out, "| `--", option->name(), "` | ", Code(TypeName(*option)), " | ",
                    option->spec.required() ? "required" : Code(DefaultText(option->spec)), " | ",
                    Cell(meaning), " |\n");
  }
}

void AppendUnhonouredTable(absl::string_view heading, const std::vector<Section>& sections,
                           std::string* out) {
  if (sections.empty()) return;
  absl::StrAppend(out, "\n## ", heading, "\n\n| Flags | Why |\n|---|---|\n");
  for (const Section& section : sections) {
    const auto name = [](std::string* text, const Option* option) {
      absl::StrAppend(text, "`--", option->name(), "`");
    };
    absl::StrAppend(out, "| ", absl::StrJoin(section.options, " ", name), " | ",
                    Cell(section.heading), " |\n");
  }
}

}  // namespace

absl::StatusOr<std::string> HelpText(const google::protobuf::Descriptor* tool) {
  TRENCADIS_ASSIGN_OR_RETURN(const Catalog* catalog, Catalog::Of(tool));
  const std::string name = catalog->tool_name();
  std::string out = absl::StrCat("usage: ", name, " [--flag value ...]\n       ", name,
                                 " configuration.json\n\n", catalog->summary(), "\n\nGeneral\n");
  AppendFlagLine("-h, --help", "Print this text.", &out);
  AppendFlagLine("--config FILE", "JSON file with options; flags win over it.", &out);
  const Layout layout = LayOut(*catalog);
  for (const Section& section : layout.honoured) {
    absl::StrAppend(&out, "\n", section.heading, "\n");
    for (const Option* option : section.options) {
      AppendFlagLine(absl::StrCat("--", option->name(), " ", TypeName(*option)),
                     absl::StrCat(option->spec.help(), Facts(option->spec)), &out);
    }
  }
  AppendUnhonoured("Accepted without effect", layout.without_effect, &out);
  AppendUnhonoured("Refused, unless given their default", layout.refused, &out);
  return out;
}

absl::StatusOr<std::string> WriteReference(const google::protobuf::Descriptor* tool) {
  TRENCADIS_ASSIGN_OR_RETURN(const Catalog* catalog, Catalog::Of(tool));
  std::string out = absl::StrCat(
      "# ", catalog->tool_name(), "\n\n", catalog->summary(), "\n\n",
      "Written by `bazel run //api/schema:write_reference -- $PWD/docs/reference`. Booleans may\n",
      "stand alone; names may be abbreviated; `--config file.json` reads options from a file, "
      "and\n",
      "a `.json` file may stand in place of all flags.\n");
  const Layout layout = LayOut(*catalog);
  for (const Section& section : layout.honoured) AppendTable(section, &out);
  AppendUnhonouredTable("Accepted without effect", layout.without_effect, &out);
  AppendUnhonouredTable("Refused, unless given their default", layout.refused, &out);
  return out;
}

}  // namespace trencadis::schema
