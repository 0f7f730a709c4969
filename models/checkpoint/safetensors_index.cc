#include "models/checkpoint/safetensors_index.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_text.h"
#include "models/checkpoint/safetensors.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

// Several files as one. Each tensor lives in the shard the index names.
class ShardedSource : public TensorSource {
 public:
  absl::Status Add(const std::map<std::string, std::string>& shard_of_tensor,
                   std::map<std::string, std::unique_ptr<TensorSource>> shards) {
    std::vector<TensorInfo> infos;
    for (const auto& [name, shard] : shard_of_tensor) {
      const absl::StatusOr<const TensorInfo*> info = shards.at(shard)->Get(name);
      if (!info.ok()) return Annotate(info.status(), shard);
      infos.push_back(**info);
      sources_.push_back(shards.at(shard).get());
    }
    // The map is sorted by name, as tensors() will be: sources_ stays parallel to it.
    shards_ = std::move(shards);
    return SetTensors(std::move(infos));
  }

 protected:
  absl::Status ReadCheckedRows(const TensorInfo& info, int64_t first_row, int64_t rows, DType dtype,
                               absl::Span<std::byte> out) const override {
    return sources_[IndexOf(info)]->ReadRowsInto(info.name, first_row, rows, dtype, out);
  }

 private:
  std::map<std::string, std::unique_ptr<TensorSource>> shards_;
  std::vector<const TensorSource*> sources_;  // parallel to tensors()
};

absl::StatusOr<std::map<std::string, std::string>> ReadWeightMap(const std::string& index_path) {
  TRENCADIS_ASSIGN_OR_RETURN(const nlohmann::json index, ReadJsonObject(index_path));
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(index_path, ": no object \"weight_map\" from tensor to file"));
  }
  std::map<std::string, std::string> shard_of_tensor;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(index_path, ": weight_map.", tensor, " is not a file name"));
    }
    const std::string name = file.get<std::string>();
    // An index must not make us read outside its own directory.
    if (name.empty() || name == ".." || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(index_path, ": weight_map.", tensor, " is '",
                                                     name,
                                                     "'; wanted the name of a file beside it"));
    }
    shard_of_tensor[tensor] = name;
  }
  return shard_of_tensor;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TensorSource>> OpenSafetensorsIndex(const std::string& index_path) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto shard_of_tensor, ReadWeightMap(index_path));
  std::map<std::string, std::unique_ptr<TensorSource>> shards;
  for (const auto& [tensor, file] : shard_of_tensor) {
    if (shards.count(file) > 0) continue;
    TRENCADIS_ASSIGN_OR_RETURN(shards[file],
                               SafetensorsFile::Open(JoinPath(DirectoryOf(index_path), file)));
  }
  auto source = std::make_unique<ShardedSource>();
  const absl::Status status = source->Add(shard_of_tensor, std::move(shards));
  if (!status.ok()) return Annotate(status, index_path);
  return source;
}

}  // namespace trencadis::checkpoint
