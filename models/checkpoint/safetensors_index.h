// Reads a checkpoint that is split into several safetensors files (shards).
#ifndef TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_INDEX_H_
#define TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_INDEX_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/tensor_source.h"

namespace trencadis::checkpoint {

// Opens every shard that a model.safetensors.index.json names, as one source that holds the tensors
// of its weight_map. Shards must lie beside the index. Errors name the file at fault.
absl::StatusOr<std::unique_ptr<TensorSource>> OpenSafetensorsIndex(const std::string& index_path);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_SAFETENSORS_INDEX_H_
