#include "models/checkpoint/hf_writer.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

constexpr absl::string_view kTokenizerFiles[] = {"tokenizer.model",
                                                 "tokenizer.json",
                                                 "tokenizer_config.json",
                                                 "special_tokens_map.json",
                                                 "added_tokens.json",
                                                 "vocab.json",
                                                 "merges.txt",
                                                 "vocab.txt",
                                                 "chat_template.jinja",
                                                 "generation_config.json"};

using Shard = std::vector<TensorToWrite>;

std::vector<Shard> SplitIntoShards(std::vector<TensorToWrite> tensors, int64_t max_bytes) {
  std::vector<Shard> shards(1);
  int64_t bytes = 0;
  for (TensorToWrite& tensor : tensors) {
    const int64_t tensor_bytes = tensor.type.byte_size();
    if (!shards.back().empty() && bytes + tensor_bytes > max_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += tensor_bytes;
    shards.back().push_back(std::move(tensor));
  }
  return shards;
}

bool IsWeightFile(absl::string_view name) {
  return absl::StartsWith(name, "model") &&
         (absl::EndsWith(name, ".safetensors") || absl::EndsWith(name, ".safetensors.index.json"));
}

// Removes the weight files of an earlier model; `kept` are the new one's.
absl::Status RemoveOtherWeightFiles(const std::string& directory, const std::set<std::string>& kept,
                                    FileSystem& fs) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs.List(directory));
  for (const std::string& name : names) {
    if (!IsWeightFile(name) || kept.count(name) > 0) continue;
    TRENCADIS_RETURN_IF_ERROR(fs.Remove(JoinPath(directory, name)));
  }
  return absl::OkStatus();
}

// Returns the names of the files written.
absl::StatusOr<std::set<std::string>> WriteShards(const std::string& directory,
                                                  std::vector<Shard> shards, FileSystem& fs) {
  const std::string single = "model.safetensors", index_name = "model.safetensors.index.json";
  if (shards.size() == 1) {
    TRENCADIS_RETURN_IF_ERROR(
        WriteSafetensors(JoinPath(directory, single), std::move(shards[0]), fs));
    return std::set<std::string>{single};
  }
  std::set<std::string> written = {index_name};
  nlohmann::json weight_map = nlohmann::json::object();
  int64_t total_bytes = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name =
        absl::StrFormat("model-%05d-of-%05d.safetensors", i + 1, shards.size());
    for (const TensorToWrite& tensor : shards[i]) {
      if (!weight_map.emplace(tensor.name, name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("two tensors are named '", tensor.name, "'"));
      }
      total_bytes += tensor.type.byte_size();
    }
    TRENCADIS_RETURN_IF_ERROR(
        WriteSafetensors(JoinPath(directory, name), std::move(shards[i]), fs));
    written.insert(name);
  }
  nlohmann::json index;
  index["metadata"]["total_size"] = total_bytes;
  index["weight_map"] = std::move(weight_map);
  TRENCADIS_RETURN_IF_ERROR(
      WriteFileAtomically(JoinPath(directory, index_name), index.dump(2) + "\n", fs));
  return written;
}

// PyTorch's name of the dtype that holds most bytes.
std::string MainDType(const std::vector<TensorToWrite>& tensors) {
  int64_t f32_bytes = 0, bf16_bytes = 0;
  for (const TensorToWrite& tensor : tensors) {
    if (tensor.type.dtype == DType::kF32) f32_bytes += tensor.type.byte_size();
    if (tensor.type.dtype == DType::kBF16) bf16_bytes += tensor.type.byte_size();
  }
  return bf16_bytes > f32_bytes ? "bfloat16" : "float32";
}

}  // namespace

absl::Status WriteHfModel(const std::string& directory, ModelConfig config,
                          std::vector<TensorToWrite> tensors, const HfWriteOptions& options,
                          FileSystem& fs) {
  TRENCADIS_RETURN_IF_ERROR(fs.CreateDirectories(directory));
  config.torch_dtype = MainDType(tensors);
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::set<std::string> written,
      WriteShards(directory, SplitIntoShards(std::move(tensors), options.max_shard_bytes), fs));
  // Last, because a reader prefers an index: until it is gone it finds the old model whole.
  TRENCADIS_RETURN_IF_ERROR(RemoveOtherWeightFiles(directory, written, fs));
  TRENCADIS_RETURN_IF_ERROR(
      WriteFileAtomically(JoinPath(directory, "config.json"), ModelConfigToJson(config), fs));
  if (options.copy_tokenizer_from.empty()) return absl::OkStatus();
  return CopyTokenizerFiles(options.copy_tokenizer_from, directory, fs);
}

absl::Status CopyTokenizerFiles(const std::string& from, const std::string& to, FileSystem& fs) {
  for (absl::string_view name : kTokenizerFiles) {
    const std::string source = JoinPath(from, name);
    if (!fs.Exists(source)) continue;
    TRENCADIS_ASSIGN_OR_RETURN(const std::string contents, fs.ReadFile(source));
    TRENCADIS_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(to, name), contents, fs));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::checkpoint
