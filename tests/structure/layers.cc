#include "tests/structure/layers.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trencadis::structure {

absl::StatusOr<Layers> Layers::Parse(absl::string_view text) {
  Layers layers;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view content = line.substr(0, line.find('#'));
    const std::vector<std::string> fields =
        absl::StrSplit(content, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.empty()) continue;
    int layer = 0;
    if (fields.size() != 2 || !absl::SimpleAtoi(fields[0], &layer)) {
      return absl::InvalidArgumentError(
          absl::StrCat("bad line '", line, "'; wanted a layer's number and a folder"));
    }
    layers.layer_of_folder_[fields[1]] = layer;
  }
  return layers;
}

std::optional<int> Layers::LayerOf(absl::string_view path) const {
  size_t longest = 0;
  std::optional<int> layer;
  for (const auto& [folder, folder_layer] : layer_of_folder_) {
    if (path != folder && !absl::StartsWith(path, folder + "/")) continue;
    if (folder.size() < longest) continue;
    longest = folder.size();
    layer = folder_layer;
  }
  return layer;
}

std::optional<int> Layers::LowestLayerIn(absl::string_view folder) const {
  std::optional<int> lowest = LayerOf(folder);
  for (const auto& [listed, layer] : layer_of_folder_) {
    if (absl::StartsWith(listed, absl::StrCat(folder, "/"))) {
      lowest = std::min(layer, lowest.value_or(layer));
    }
  }
  return lowest;
}

int Layers::highest() const {
  int highest = 0;
  for (const auto& [folder, layer] : layer_of_folder_) highest = std::max(highest, layer);
  return highest;
}

std::vector<std::string> Layers::Folders(int layer) const {
  std::vector<std::string> folders;
  for (const auto& [folder, folder_layer] : layer_of_folder_) {
    if (folder_layer == layer) folders.push_back(folder);
  }
  return folders;
}

std::string Layers::PackageGroupOf(int layer) { return absl::StrCat("//:layer_", layer, "_up"); }

std::string Layers::PackageGroups() const {
  std::string text;
  for (int layer = 0; layer <= highest(); ++layer) {
    absl::StrAppend(&text, "package_group(\n    name = \"layer_", layer, "_up\",\n");
    if (layer < highest()) {
      absl::StrAppend(&text, "    includes = [\":layer_", layer + 1, "_up\"],\n");
    }
    const std::vector<std::string> folders = Folders(layer);
    absl::StrAppend(&text, "    packages = [");
    if (folders.size() == 1) {
      absl::StrAppend(&text, "\"//", folders[0], "/...\"],\n)\n");
    } else {
      for (const std::string& folder : folders) {
        absl::StrAppend(&text, "\n        \"//", folder, "/...\",");
      }
      absl::StrAppend(&text, "\n    ],\n)\n");
    }
    if (layer < highest()) absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace trencadis::structure
