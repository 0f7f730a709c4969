// ModelDirectory: "a model" as users name one, a Hugging Face directory or a .gguf file.
#ifndef TRENCADIS_MODELS_CHECKPOINT_MODEL_DIRECTORY_H_
#define TRENCADIS_MODELS_CHECKPOINT_MODEL_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/hf_config.h"
#include "models/checkpoint/tensor_source.h"

namespace trencadis::checkpoint {

struct ModelDirectory {
  // As given to OpenModel.
  std::string path;
  ModelConfig config;
  // Parameters under Hugging Face's names and layout, whatever the file format.
  std::unique_ptr<TensorSource> tensors;
  // What tokenizers::LoadTokenizer takes: the directory, or the .gguf file itself.
  std::string tokenizer_path;
};

// Opens a directory with config.json and model.safetensors (or shards with
// model.safetensors.index.json), or a .gguf file. Reads headers only. A file that is something else
// (Git LFS pointer, HTML page, pickle, half a download) is named for what it is.
absl::StatusOr<ModelDirectory> OpenModel(const std::string& path);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_MODEL_DIRECTORY_H_
