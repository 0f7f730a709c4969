// ModelConfig: what a Hugging Face config.json says about a decoder-only transformer, and back.
//
// Names, defaults and meanings are those of transformers' LlamaConfig and its relatives (Mistral,
// Qwen2). Keys that are not understood are kept and written back.
#ifndef TRENCADIS_MODELS_CHECKPOINT_HF_CONFIG_H_
#define TRENCADIS_MODELS_CHECKPOINT_HF_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::checkpoint {

// How rotary frequencies are changed for longer contexts; `type` is "linear", "dynamic", "yarn",
// "llama3" or another name, which the model accepts or refuses.
struct RopeScaling {
  std::string type;
  double factor = 1;
  // "llama3" only.
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  int64_t original_max_position_embeddings = 0;

  bool operator==(const RopeScaling&) const = default;
};

struct ModelConfig {
  std::string model_type = "llama";
  std::vector<std::string> architectures;  // e.g. {"LlamaForCausalLM"}

  int64_t vocab_size = 32000;
  int64_t hidden_size = 4096;
  int64_t intermediate_size = 11008;
  int64_t num_hidden_layers = 32;
  int64_t num_attention_heads = 32;
  int64_t num_key_value_heads = 32;  // absent in the file: num_attention_heads
  int64_t head_dim = 128;            // absent in the file: hidden_size / num_attention_heads
  int64_t max_position_embeddings = 2048;

  std::string hidden_act = "silu";
  double rms_norm_eps = 1e-6;
  double initializer_range = 0.02;
  double attention_dropout = 0;
  bool attention_bias = false;  // on q, k, v and o projections
  bool mlp_bias = false;
  bool tie_word_embeddings = false;

  double rope_theta = 10000;
  std::optional<RopeScaling> rope_scaling;
  // Width of the attention window; empty: every earlier position is seen.
  std::optional<int64_t> sliding_window;

  std::optional<int64_t> bos_token_id;
  std::vector<int64_t> eos_token_ids;  // most models have one; Llama 3 lists several
  std::optional<int64_t> pad_token_id;

  std::string torch_dtype = "float32";  // what the weights were saved as

  // Other keys of the file with their values as JSON text.
  std::map<std::string, std::string> other_fields;

  bool operator==(const ModelConfig&) const = default;
};

// Reads the text of a config.json. Errors name the key, what it holds and what was wanted.
absl::StatusOr<ModelConfig> ParseModelConfig(absl::string_view json_text);
// Reads the file; errors name it.
absl::StatusOr<ModelConfig> ReadModelConfig(const std::string& path);
// The text of a config.json that ParseModelConfig and transformers read as `config`.
std::string ModelConfigToJson(const ModelConfig& config);

// Whether dimensions are positive and consistent (heads are a multiple of key-value heads, rotary
// width is even, ids lie inside the vocabulary, ...). ParseModelConfig has checked what it returns.
absl::Status CheckModelConfig(const ModelConfig& config);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_HF_CONFIG_H_
