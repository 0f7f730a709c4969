#include "tests/structure/source_checks.h"

#include <algorithm>
#include <regex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trencadis::structure {
namespace {

constexpr int kMaxLines = 500;

absl::string_view FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? "" : path.substr(0, slash);
}

struct Include {
  int line;
  bool quoted;
  std::string path;
};

std::vector<Include> IncludesOf(absl::string_view text) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> includes;
  int line = 0;
  for (absl::string_view piece : absl::StrSplit(text, '\n')) {
    ++line;
    std::cmatch match;
    if (std::regex_search(piece.begin(), piece.end(), match, kInclude)) {
      includes.push_back({line, match[1] == "\"", match[2]});
    }
  }
  return includes;
}

std::string GuardOf(absl::string_view path) {
  std::string guard = absl::StrCat("TRENCADIS_", absl::AsciiStrToUpper(path), "_");
  std::replace_if(
      guard.begin(), guard.end(), [](char c) { return !absl::ascii_isalnum(c); }, '_');
  return guard;
}

}  // namespace

Complaints CheckIncludes(const Layers& layers, absl::string_view path, absl::string_view text) {
  const std::optional<int> own_layer = layers.LayerOf(path);
  if (!own_layer.has_value()) return {absl::StrCat(path, " is in no layer of layers.txt")};
  Complaints complaints;
  for (const Include& include : IncludesOf(text)) {
    const std::string place = absl::StrCat(path, ":", include.line);
    const std::optional<int> layer = layers.LayerOf(include.path);
    if (include.quoted && !absl::StrContains(include.path, '/')) {
      complaints.push_back(absl::StrCat(place, " includes \"", include.path,
                                        "\" without its folder; libraries' go in <>"));
    }
    if (layer.has_value() && *layer > *own_layer) {
      complaints.push_back(absl::StrCat(place, " (layer ", *own_layer, ") includes ", include.path,
                                        " of layer ", *layer));
    }
  }
  return complaints;
}

Complaints CheckReservedNames(absl::string_view path, absl::string_view text) {
  Complaints complaints;
  for (const Include& include : IncludesOf(text)) {
    const bool reserved = absl::StartsWith(include.path, "llvm") ||
                          absl::StartsWith(include.path, "dnnl") ||
                          absl::StartsWith(include.path, "oneapi/");
    if (reserved && !absl::StartsWith(path, "runtime/codegen/")) {
      complaints.push_back(absl::StrCat(path, ":", include.line, " includes ", include.path,
                                        ", which only runtime/codegen may"));
    }
  }
  static const std::regex kReadsEnvironment(R"(\b(secure_)?getenv\s*\()");
  if (path != "runtime/base/env.cc" &&
      std::regex_search(text.begin(), text.end(), kReadsEnvironment)) {
    complaints.push_back(absl::StrCat(
        path, " reads the environment; only runtime/base/env.cc may: use its EnvString"));
  }
  return complaints;
}

Complaints CheckIncludeGuard(absl::string_view path, absl::string_view text) {
  const std::string guard = GuardOf(path);
  const std::string opening = absl::StrCat("\n#ifndef ", guard, "\n#define ", guard, "\n");
  const std::string closing = absl::StrCat("\n#endif  // ", guard, "\n");
  if (absl::StrContains(absl::StrCat("\n", text), opening) && absl::EndsWith(text, closing)) {
    return {};
  }
  return {absl::StrCat(path, " lacks the include guard ", guard,
                       " (#ifndef, #define, and #endif  // ", guard, " as its last line)")};
}

Complaints CheckLength(absl::string_view path, absl::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= kMaxLines) return {};
  return {absl::StrCat(path, " has ", lines, " lines, more than ", kMaxLines, "; split its idea")};
}

Complaints CheckVisibility(const Layers& layers, absl::string_view path, absl::string_view text) {
  const std::optional<int> layer = layers.LayerOf(FolderOf(path));
  if (!layer.has_value()) return {};
  const std::string group = Layers::PackageGroupOf(*layer);
  const std::string wanted = absl::StrCat("[\"", group, "\"]");
  constexpr absl::string_view kPrivate = "[\"//visibility:private\"]";

  Complaints complaints;
  bool has_default = false;
  static const std::regex kVisibility(
      R"re((default_visibility|\bvisibility)\s*=\s*(\[[^\]]*\]))re");
  for (std::cregex_iterator match(text.begin(), text.end(), kVisibility), end; match != end;
       ++match) {
    const bool is_default = (*match)[1] == "default_visibility";
    has_default |= is_default;
    const std::string value = (*match)[2];
    if (value == wanted || value == kPrivate) continue;
    // It may be narrower: chosen packages of its own or a higher layer.
    static const std::regex kLabel(R"re("//([^":]*):[^"]*")re");
    int labels = 0;
    bool chosen = true;
    for (std::sregex_iterator label(value.begin(), value.end(), kLabel), last; label != last;
         ++label, ++labels) {
      const std::optional<int> lowest = layers.LowestLayerIn((*label)[1].str());
      chosen &= lowest.has_value() && *lowest >= *layer;
    }
    chosen &= labels == std::count(value.begin(), value.end(), '"') / 2 && labels > 0;
    if (chosen) continue;
    complaints.push_back(absl::StrCat(path, " has ", (*match)[1].str(), " = ", value, "; wanted ",
                                      wanted, " or private"));
  }
  if (!has_default) {
    complaints.push_back(absl::StrCat(path, " lacks package(default_visibility = ", wanted, ")"));
  }
  return complaints;
}

}  // namespace trencadis::structure
