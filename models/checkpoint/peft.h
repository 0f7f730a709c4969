// LoRA adapters in the files and names of PEFT (adapter_config.json, adapter_model.safetensors).
#ifndef TRENCADIS_MODELS_CHECKPOINT_PEFT_H_
#define TRENCADIS_MODELS_CHECKPOINT_PEFT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/checkpoint/safetensors_writer.h"
#include "models/checkpoint/tensor_source.h"

namespace trencadis::checkpoint {

// The fields of PEFT's LoraConfig that a reader of the adapter needs.
struct PeftConfig {
  std::string base_model_name_or_path;
  std::string task_type = "CAUSAL_LM";
  int64_t r = 8;
  double lora_alpha = 8;
  double lora_dropout = 0;
  // Module names ("q_proj") or, if single and so marked, one regular expression.
  std::vector<std::string> target_modules;
  bool target_modules_is_regex = false;
  // Modules trained in full and saved beside the adapter, e.g. "lm_head".
  std::vector<std::string> modules_to_save;
  bool use_rslora = false;  // scale by alpha / sqrt(r) instead of alpha / r
  bool inference_mode = true;

  bool operator==(const PeftConfig&) const = default;
};

absl::StatusOr<PeftConfig> ParsePeftConfig(absl::string_view json_text);
std::string PeftConfigToJson(const PeftConfig& config);

// PEFT's key for a matrix of the adapter on `module` ("model.layers.0.self_attn.q_proj"):
// "base_model.model." + module + ".lora_A.weight" (A: [r, in]; B: [out, r]).
std::string LoraAName(absl::string_view module);
std::string LoraBName(absl::string_view module);
// PEFT's key for a parameter of a module in modules_to_save ("lm_head.weight").
std::string SavedModuleName(absl::string_view parameter);

struct PeftAdapter {
  PeftConfig config;
  // Under PEFT's key names.
  std::unique_ptr<TensorSource> tensors;
  // The modules that have both matrices, sorted: "model.layers.0.self_attn.q_proj", ...
  std::vector<std::string> modules;
};

// Opens a directory that PEFT (0.4 or later) or WritePeftAdapter wrote. Refuses what plain LoRA is
// not (another peft_type, bias, DoRA, per-module ranks) by name.
absl::StatusOr<PeftAdapter> OpenPeftAdapter(const std::string& directory);

// Writes both files into `directory`, made if needed; `tensors` carry PEFT's names.
absl::Status WritePeftAdapter(const std::string& directory, const PeftConfig& config,
                              std::vector<TensorToWrite> tensors);

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_PEFT_H_
