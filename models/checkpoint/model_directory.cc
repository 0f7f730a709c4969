#include "models/checkpoint/model_directory.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/gguf_model.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/safetensors_index.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

constexpr absl::string_view kWeights = "model.safetensors";
constexpr absl::string_view kIndex = "model.safetensors.index.json";

absl::StatusOr<std::unique_ptr<TensorSource>> OpenWeights(const std::string& directory) {
  FileSystem& fs = RealFileSystem();
  const std::string index = JoinPath(directory, kIndex);
  if (fs.Exists(index)) return OpenSafetensorsIndex(index);
  const std::string single = JoinPath(directory, kWeights);
  if (fs.Exists(single)) {
    TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<TensorSource> file, SafetensorsFile::Open(single));
    return file;
  }
  std::string advice = "download the model's safetensors files";
  for (absl::string_view pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (fs.Exists(JoinPath(directory, pickle))) {
      advice = absl::StrCat("it has ", pickle, ", a pickle, which is not read; convert it with ",
                            "save_pretrained(..., safe_serialization=True)");
    }
  }
  return absl::NotFoundError(
      absl::StrCat(directory, " has no ", kWeights, " and no ", kIndex, "; ", advice));
}

// A layer count that the tensors do not bear out is refused before anybody builds that many.
absl::Status CheckLayerCount(const ModelDirectory& model) {
  const std::string last = absl::StrCat("model.layers.", model.config.num_hidden_layers - 1, ".");
  for (const TensorInfo& info : model.tensors->tensors()) {
    if (absl::StrContains(info.name, last)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(model.path, ": the configuration has ", model.config.num_hidden_layers,
                   " layers, but no tensor's name begins with '", last, "'"));
}

absl::StatusOr<ModelDirectory> OpenGguf(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<GgufFile> file, GgufFile::Open(path));
  ModelDirectory model{.path = path, .tokenizer_path = path};
  const absl::StatusOr<ModelConfig> config = ConfigFromGguf(*file);
  if (!config.ok()) return Annotate(config.status(), path);
  model.config = *config;
  absl::StatusOr<std::unique_ptr<TensorSource>> tensors =
      TensorsFromGguf(std::move(file), model.config);
  if (!tensors.ok()) return Annotate(tensors.status(), path);
  model.tensors = std::move(*tensors);
  return model;
}

absl::StatusOr<ModelDirectory> OpenHuggingFace(const std::string& path) {
  const std::string config_path = JoinPath(path, "config.json");
  if (!RealFileSystem().Exists(config_path)) {
    return absl::NotFoundError(absl::StrCat(
        path, " has no config.json; wanted a Hugging Face model directory or a .gguf file"));
  }
  ModelDirectory model{.path = path, .tokenizer_path = path};
  TRENCADIS_ASSIGN_OR_RETURN(model.config, ReadModelConfig(config_path));
  TRENCADIS_ASSIGN_OR_RETURN(model.tensors, OpenWeights(path));
  return model;
}

}  // namespace

absl::StatusOr<ModelDirectory> OpenModel(const std::string& path) {
  FileSystem& fs = RealFileSystem();
  if (!fs.Exists(path)) {
    return absl::NotFoundError(absl::StrCat(
        path, " does not exist; wanted a Hugging Face model directory or a .gguf file"));
  }
  const bool is_directory = fs.IsDirectory(path);
  if (!is_directory && !absl::EndsWithIgnoreCase(path, ".gguf")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is a file but no .gguf; to open safetensors, name the directory they are in"));
  }
  TRENCADIS_ASSIGN_OR_RETURN(ModelDirectory model,
                             is_directory ? OpenHuggingFace(path) : OpenGguf(path));
  TRENCADIS_RETURN_IF_ERROR(CheckLayerCount(model));
  return model;
}

}  // namespace trencadis::checkpoint
