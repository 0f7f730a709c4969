// The table of layers (layers.txt) and what follows from it.
#ifndef TRENCADIS_TESTS_STRUCTURE_LAYERS_H_
#define TRENCADIS_TESTS_STRUCTURE_LAYERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::structure {

class Layers {
 public:
  // Reads lines of "layer folder"; '#' begins a comment.
  static absl::StatusOr<Layers> Parse(absl::string_view text);

  // The layer of a file or folder: that of the longest listed folder it is in. Nothing for what has
  // no layer, such as third_party.
  std::optional<int> LayerOf(absl::string_view path) const;
  // The lowest layer of what is in `folder`, at any depth.
  std::optional<int> LowestLayerIn(absl::string_view folder) const;
  int highest() const;
  // The folders of one layer, sorted.
  std::vector<std::string> Folders(int layer) const;

  // "//:layer_3_up", the package group that holds layer 3 and everything above.
  static std::string PackageGroupOf(int layer);
  // The package groups, as they stand in the BUILD file of the root.
  std::string PackageGroups() const;

 private:
  std::map<std::string, int> layer_of_folder_;
};

}  // namespace trencadis::structure

#endif  // TRENCADIS_TESTS_STRUCTURE_LAYERS_H_
