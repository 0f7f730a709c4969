// A llama.cpp model as a Hugging Face one: configuration from GGUF metadata, tensors under Hugging
// Face's names and in its row order.
#ifndef TRENCADIS_MODELS_CHECKPOINT_GGUF_MODEL_H_
#define TRENCADIS_MODELS_CHECKPOINT_GGUF_MODEL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/hf_config.h"
#include "models/checkpoint/tensor_source.h"

namespace trencadis::checkpoint {

// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; empty for a name that a llama
// model does not have.
std::optional<std::string> HuggingFaceName(absl::string_view gguf_name);

// Reads the metadata of architecture "llama" (Llama, Mistral, SmolLM, TinyLlama, ...). Refuses
// others, and features that transformers' Llama does not have, by name. The head counts as tied
// when its tensor is absent or equal to the embedding, byte for byte.
absl::StatusOr<ModelConfig> ConfigFromGguf(const GgufFile& file);

// The tensors of `file`, whose configuration is `config`. llama.cpp stores the rows of the query
// and key projections in the order of interleaved rotary pairs; reading puts them back into halves.
// A head tied by `config` is left out.
absl::StatusOr<std::unique_ptr<TensorSource>> TensorsFromGguf(std::unique_ptr<GgufFile> file,
                                                              const ModelConfig& config);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_GGUF_MODEL_H_
