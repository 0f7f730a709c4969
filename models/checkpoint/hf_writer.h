// Writes a model as a Hugging Face directory.
#ifndef TRENCADIS_MODELS_CHECKPOINT_HF_WRITER_H_
#define TRENCADIS_MODELS_CHECKPOINT_HF_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/checkpoint/hf_config.h"
#include "models/checkpoint/safetensors_writer.h"
#include "runtime/base/file.h"

namespace trencadis::checkpoint {

struct HfWriteOptions {
  // A file begins anew where one more tensor would take it above this (transformers'
  // max_shard_size); a tensor is never cut.
  int64_t max_shard_bytes = int64_t{5} << 30;
  // A directory whose tokenizer and generation files are copied; empty for none.
  std::string copy_tokenizer_from;
};

// Writes config.json, model.safetensors (or model-00001-of-0000N.safetensors and
// model.safetensors.index.json) and the tokenizer's files into `directory`, made if needed.
// config.torch_dtype becomes the type that most bytes have. Each file appears whole; weight files
// of an earlier model go at the end. For all files or none, write into an AtomicDirectory.
absl::Status WriteHfModel(const std::string& directory, ModelConfig config,
                          std::vector<TensorToWrite> tensors, const HfWriteOptions& options,
                          FileSystem& fs = RealFileSystem());

// Copies what makes up a tokenizer (tokenizer.model, tokenizer.json, tokenizer_config.json, ...)
// and generation_config.json, as far as it is there.
absl::Status CopyTokenizerFiles(const std::string& from, const std::string& to,
                                FileSystem& fs = RealFileSystem());

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_HF_WRITER_H_
