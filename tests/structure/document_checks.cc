#include "tests/structure/document_checks.h"

#include <filesystem>
#include <regex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trencadis::structure {
namespace {

namespace fs = std::filesystem;

// Calls `visit` with the match of each occurrence of `pattern`.
template <typename Visit>
void ForEachMatch(absl::string_view text, const std::regex& pattern, const Visit& visit) {
  for (std::cregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    visit(*match);
  }
}

bool LabelExists(const Workspace& workspace, const std::string& package,
                 const std::string& target) {
  if (absl::EndsWith(package, "...")) {
    const std::string folder = package.substr(0, package.find_last_not_of("./") + 1);
    return folder.empty() || workspace.exists(folder);
  }
  const std::string name = target.empty() ? fs::path(package).filename().string() : target;
  const std::string build_file = workspace.build_file(package);
  return absl::StrContains(build_file, absl::StrCat("name = \"", name, "\"")) ||
         (name == "all" && !build_file.empty());
}

void CheckLinks(const Workspace& workspace, absl::string_view path, const std::string& place,
                absl::string_view line, Complaints& complaints) {
  static const std::regex kLink(R"(\]\(([^)#]+)(#[^)]*)?\))");
  ForEachMatch(line, kLink, [&](const std::cmatch& match) {
    const std::string link = match[1];
    if (absl::StrContains(link, ":")) return;  // of the web
    const fs::path target = (fs::path(std::string(path)).parent_path() / link).lexically_normal();
    if (!workspace.exists(target.string())) {
      complaints.push_back(absl::StrCat(place, " links to ", link, ", which does not exist"));
    }
  });
}

void CheckCode(const Workspace& workspace, const std::string& place, absl::string_view line,
               Complaints& complaints) {
  static const std::regex kLabel(R"((^|[\s=])//([\w/.-]*)(:([\w.-]+))?)");
  ForEachMatch(line, kLabel, [&](const std::cmatch& match) {
    if (!LabelExists(workspace, match[2], match[4])) {
      complaints.push_back(absl::StrCat(place, " names //", match[2].str(), match[3].str(),
                                        ", which does not exist"));
    }
  });
  static const std::regex kScript(R"((^|[\s/])(tools/[\w/.-]+\.sh))");
  ForEachMatch(line, kScript, [&](const std::cmatch& match) {
    if (!workspace.exists(match[2])) {
      complaints.push_back(absl::StrCat(place, " runs ", match[2].str(), ", which does not exist"));
    }
  });
}

}  // namespace

Complaints CheckDocument(const Workspace& workspace, absl::string_view path,
                         absl::string_view text) {
  Complaints complaints;
  int line_number = 0, block_start = 0;  // block_start: 0 outside of blocks of code
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::string place = absl::StrCat(path, ":", line_number);
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "```")) {
      block_start = block_start == 0 ? line_number : 0;
    } else if (block_start != 0) {
      CheckCode(workspace, place, line, complaints);
    } else {
      CheckLinks(workspace, path, place, line, complaints);
    }
  }
  if (block_start != 0) {
    complaints.push_back(absl::StrCat(path, ":", block_start, " opens a block that does not end"));
  }
  return complaints;
}

}  // namespace trencadis::structure
