#include "models/checkpoint/peft.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "models/checkpoint/json_text.h"
#include "models/checkpoint/safetensors.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kConfigFile = "adapter_config.json";
constexpr absl::string_view kWeightsFile = "adapter_model.safetensors";
// PeftModel.base_model (LoraModel).model (the transformer).
constexpr absl::string_view kPrefix = "base_model.model.";
constexpr absl::string_view kLoraA = ".lora_A.weight";
constexpr absl::string_view kLoraB = ".lora_B.weight";

// Fields that change what the adapter computes, with the one value that plain LoRA has. An empty
// list or object, null and absence count as that value too.
struct FixedField {
  const char* key;
  Json plain;
};

const std::vector<FixedField>& FixedFields() {
  static const auto* const kFields = new std::vector<FixedField>{
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"use_dora", false},
      {"lora_bias", false},
      {"use_qalora", false},
      {"use_bdlora", false},
      {"rank_pattern", nullptr},
      {"alpha_pattern", nullptr},
      {"layers_to_transform", nullptr},
      {"layers_pattern", nullptr},
      {"layer_replication", nullptr},
      {"exclude_modules", nullptr},
      {"target_parameters", nullptr},
      {"trainable_token_indices", nullptr},
      {"alora_invocation_tokens", nullptr},
  };
  return *kFields;
}

absl::Status CheckFixedFields(JsonFields& fields) {
  for (const FixedField& field : FixedFields()) {
    const Json value = fields.Take(field.key);
    const bool unset = value.is_null() || (value.is_structured() && value.empty());
    if (!unset && value != field.plain) {
      return absl::UnimplementedError(absl::StrCat("\"", field.key, "\" is ", ShortText(value),
                                                   "; an adapter with it cannot be run"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTargetModules(JsonFields& fields, PeftConfig& config) {
  const Json targets = fields.Take("target_modules");
  if (targets.is_string()) {
    config.target_modules = {targets.get<std::string>()};
    config.target_modules_is_regex = true;
    return absl::OkStatus();
  }
  JsonFields list(Json{{"target_modules", targets}});
  list.Strings("target_modules", config.target_modules);
  return list.status();
}

absl::Status CheckRanges(const PeftConfig& config) {
  if (config.r <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("\"r\" is ", config.r, "; wanted 1 or more"));
  }
  if (!std::isfinite(config.lora_alpha)) {
    return absl::InvalidArgumentError("\"lora_alpha\" is not a finite number");
  }
  if (!(config.lora_dropout >= 0 && config.lora_dropout < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("\"lora_dropout\" is ", config.lora_dropout,
                                                   "; wanted 0 or more and less than 1"));
  }
  return absl::OkStatus();
}

// The module of a key such as LoraAName gives; empty for other keys.
absl::string_view ModuleOf(absl::string_view key, absl::string_view suffix) {
  if (!absl::StartsWith(key, kPrefix) || !absl::EndsWith(key, suffix)) return "";
  key.remove_prefix(kPrefix.size());
  key.remove_suffix(suffix.size());
  return key;
}

// The modules adapted by `tensors`, whose matrices must fit each other and the rank.
absl::StatusOr<std::vector<std::string>> FindModules(const TensorSource& tensors, int64_t r) {
  std::vector<std::string> modules;
  for (const TensorInfo& info : tensors.tensors()) {
    const absl::string_view with_b = ModuleOf(info.name, kLoraB);
    if (!with_b.empty()) TRENCADIS_RETURN_IF_ERROR(tensors.Get(LoraAName(with_b)).status());
    const absl::string_view module = ModuleOf(info.name, kLoraA);
    if (module.empty()) continue;
    TRENCADIS_ASSIGN_OR_RETURN(const TensorInfo* b, tensors.Get(LoraBName(module)));
    if (info.shape.rank() != 2 || b->shape.rank() != 2 || info.shape.dim(0) != r ||
        b->shape.dim(1) != r) {
      return absl::InvalidArgumentError(absl::StrCat(
          "on module '", module, "' lora_A is ", info.shape.ToString(), " and lora_B is ",
          b->shape.ToString(), "; with \"r\" ", r, " they must be [", r, ",in] and [out,", r, "]"));
    }
    modules.emplace_back(module);
  }
  if (modules.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor's name is of the form '", LoraAName("MODULE"), "'"));
  }
  return modules;
}

}  // namespace

absl::StatusOr<PeftConfig> ParsePeftConfig(absl::string_view json_text) {
  TRENCADIS_ASSIGN_OR_RETURN(Json object, ParseJsonObject(json_text));
  JsonFields fields(std::move(object));
  std::string peft_type;
  fields.String("peft_type", peft_type);
  if (peft_type != "LORA") {
    return absl::UnimplementedError(
        absl::StrCat("\"peft_type\" is '", peft_type, "'; only 'LORA' can be run"));
  }
  TRENCADIS_RETURN_IF_ERROR(CheckFixedFields(fields));
  PeftConfig config;
  TRENCADIS_RETURN_IF_ERROR(ReadTargetModules(fields, config));
  fields.String("base_model_name_or_path", config.base_model_name_or_path);
  fields.String("task_type", config.task_type);
  fields.Int("r", config.r);
  fields.Number("lora_alpha", config.lora_alpha);
  fields.Number("lora_dropout", config.lora_dropout);
  fields.Strings("modules_to_save", config.modules_to_save);
  fields.Bool("use_rslora", config.use_rslora);
  fields.Bool("inference_mode", config.inference_mode);
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  TRENCADIS_RETURN_IF_ERROR(CheckRanges(config));
  return config;
}

std::string PeftConfigToJson(const PeftConfig& config) {
  Json json = {
      {"alpha_pattern", Json::object()},
      {"auto_mapping", nullptr},
      {"base_model_name_or_path", config.base_model_name_or_path.empty()
                                      ? Json(nullptr)
                                      : Json(config.base_model_name_or_path)},
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"inference_mode", config.inference_mode},
      {"init_lora_weights", true},
      {"layers_pattern", nullptr},
      {"layers_to_transform", nullptr},
      {"lora_alpha", config.lora_alpha},
      {"lora_dropout", config.lora_dropout},
      {"peft_type", "LORA"},
      {"r", config.r},
      {"rank_pattern", Json::object()},
      {"revision", nullptr},
      {"task_type", config.task_type},
  };
  // PEFT writes whole numbers as integers where it was given integers.
  if (config.lora_alpha == std::floor(config.lora_alpha) && std::abs(config.lora_alpha) < 1e9) {
    json["lora_alpha"] = static_cast<int64_t>(config.lora_alpha);
  }
  json["modules_to_save"] =
      config.modules_to_save.empty() ? Json(nullptr) : Json(config.modules_to_save);
  if (config.target_modules_is_regex && config.target_modules.size() == 1) {
    json["target_modules"] = config.target_modules[0];
  } else {
    json["target_modules"] = config.target_modules;
  }
  // Older PEFT refuses fields that it does not know, so this one is written only when it matters.
  if (config.use_rslora) json["use_rslora"] = true;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string LoraAName(absl::string_view module) { return absl::StrCat(kPrefix, module, kLoraA); }
std::string LoraBName(absl::string_view module) { return absl::StrCat(kPrefix, module, kLoraB); }
std::string SavedModuleName(absl::string_view parameter) {
  return absl::StrCat(kPrefix, parameter);
}

absl::StatusOr<PeftAdapter> OpenPeftAdapter(const std::string& directory) {
  const std::string config_path = JoinPath(directory, kConfigFile);
  const std::string weights_path = JoinPath(directory, kWeightsFile);
  FileSystem& fs = RealFileSystem();
  if (!fs.Exists(config_path)) {
    return absl::NotFoundError(absl::StrCat(directory, " has no ", kConfigFile,
                                            "; wanted the directory of a PEFT adapter"));
  }
  if (!fs.Exists(weights_path)) {
    const bool pickle = fs.Exists(JoinPath(directory, "adapter_model.bin"));
    return absl::NotFoundError(absl::StrCat(
        directory, " has no ", kWeightsFile,
        pickle
            ? "; its adapter_model.bin, a pickle, is not read (save with safe_serialization=True)"
            : ""));
  }
  PeftAdapter adapter;
  TRENCADIS_ASSIGN_OR_RETURN(const MappedFile config_file, MappedFile::Open(config_path));
  absl::StatusOr<PeftConfig> config = ParsePeftConfig(config_file.text());
  if (!config.ok()) return Annotate(config.status(), config_path);
  adapter.config = std::move(*config);
  TRENCADIS_ASSIGN_OR_RETURN(adapter.tensors, SafetensorsFile::Open(weights_path));
  absl::StatusOr<std::vector<std::string>> modules =
      FindModules(*adapter.tensors, adapter.config.r);
  if (!modules.ok()) return Annotate(modules.status(), weights_path);
  adapter.modules = std::move(*modules);
  return adapter;
}

absl::Status WritePeftAdapter(const std::string& directory, const PeftConfig& config,
                              std::vector<TensorToWrite> tensors) {
  TRENCADIS_RETURN_IF_ERROR(RealFileSystem().CreateDirectories(directory));
  TRENCADIS_RETURN_IF_ERROR(
      WriteSafetensors(JoinPath(directory, kWeightsFile), std::move(tensors)));
  return WriteFileAtomically(JoinPath(directory, kConfigFile), PeftConfigToJson(config));
}

}  // namespace trencadis::checkpoint
