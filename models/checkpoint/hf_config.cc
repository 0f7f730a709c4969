#include "models/checkpoint/hf_config.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/json_fields.h"
#include "models/checkpoint/json_text.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

using Json = nlohmann::json;

// rope_scaling of transformers 4 ("type" or "rope_type") and rope_parameters of transformers 5,
// which also holds rope_theta.
absl::Status ReadRope(JsonFields& fields, ModelConfig& config) {
  fields.Number("rope_theta", config.rope_theta);
  const bool new_style = fields.Has("rope_parameters");
  const Json object = fields.Object(new_style ? "rope_parameters" : "rope_scaling");
  if (object.empty()) return absl::OkStatus();
  JsonFields rope(object);
  RopeScaling scaling;
  rope.Number("rope_theta", config.rope_theta);
  rope.String("type", scaling.type);
  rope.String("rope_type", scaling.type);
  rope.Number("factor", scaling.factor);
  rope.Number("low_freq_factor", scaling.low_freq_factor);
  rope.Number("high_freq_factor", scaling.high_freq_factor);
  rope.Int("original_max_position_embeddings", scaling.original_max_position_embeddings);
  TRENCADIS_RETURN_IF_ERROR(Annotate(rope.status(), "rope scaling"));
  if (scaling.type.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rope scaling ", ShortText(object), " has no \"rope_type\""));
  }
  if (scaling.type != "default") config.rope_scaling = scaling;
  return absl::OkStatus();
}

absl::Status RequireDimensions(const JsonFields& fields, const std::string& model_type) {
  for (const char* key : {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
                          "num_attention_heads"}) {
    if (!fields.Has(key)) {
      return absl::InvalidArgumentError(absl::StrCat("no \"", key,
                                                     "\"; a config.json of model type '",
                                                     model_type, "' without it cannot be read"));
    }
  }
  return absl::OkStatus();
}

void ReadDimensions(JsonFields& fields, ModelConfig& config) {
  fields.Int("vocab_size", config.vocab_size);
  fields.Int("hidden_size", config.hidden_size);
  fields.Int("intermediate_size", config.intermediate_size);
  fields.Int("num_hidden_layers", config.num_hidden_layers);
  fields.Int("num_attention_heads", config.num_attention_heads);
  config.num_key_value_heads = config.num_attention_heads;
  fields.Int("num_key_value_heads", config.num_key_value_heads);
  config.head_dim =
      config.num_attention_heads > 0 ? config.hidden_size / config.num_attention_heads : 0;
  fields.Int("head_dim", config.head_dim);
  fields.Int("max_position_embeddings", config.max_position_embeddings);
}

void ReadRest(JsonFields& fields, ModelConfig& config) {
  fields.Strings("architectures", config.architectures);
  fields.String("hidden_act", config.hidden_act);
  fields.Number("rms_norm_eps", config.rms_norm_eps);
  fields.Number("initializer_range", config.initializer_range);
  fields.Number("attention_dropout", config.attention_dropout);
  fields.Bool("attention_bias", config.attention_bias);
  fields.Bool("mlp_bias", config.mlp_bias);
  fields.Bool("tie_word_embeddings", config.tie_word_embeddings);
  fields.OptionalInt("bos_token_id", config.bos_token_id);
  fields.Ints("eos_token_id", config.eos_token_ids);
  fields.OptionalInt("pad_token_id", config.pad_token_id);
  fields.String("torch_dtype", config.torch_dtype);
  fields.String("dtype", config.torch_dtype);  // the name since transformers 5
  // Qwen2 states a window and says separately whether it is used.
  bool use_sliding_window = true;
  fields.Bool("use_sliding_window", use_sliding_window);
  fields.OptionalInt("sliding_window", config.sliding_window);
  if (!use_sliding_window) config.sliding_window.reset();
}

absl::Status CheckPositive(const char* key, int64_t value) {
  if (value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"", key, "\" is ", value, "; wanted 1 or more"));
}

absl::Status CheckNumbers(const ModelConfig& config) {
  if (!(config.rms_norm_eps > 0 && std::isfinite(config.rms_norm_eps))) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"rms_norm_eps\" is ", config.rms_norm_eps, "; wanted a positive number"));
  }
  if (!(config.rope_theta > 0 && std::isfinite(config.rope_theta))) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"rope_theta\" is ", config.rope_theta, "; wanted a positive number"));
  }
  if (config.rope_scaling && !(config.rope_scaling->factor > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("rope scaling's \"factor\" is ",
                                                   config.rope_scaling->factor,
                                                   "; wanted a positive number"));
  }
  if (!(config.attention_dropout >= 0 && config.attention_dropout < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("\"attention_dropout\" is ",
                                                   config.attention_dropout,
                                                   "; wanted 0 or more and less than 1"));
  }
  return absl::OkStatus();
}

// Transformers before 4.43 know "linear" and "dynamic" and insist on exactly these two keys.
Json RopeScalingToJson(const RopeScaling& scaling) {
  if (scaling.type == "linear" || scaling.type == "dynamic") {
    return {{"type", scaling.type}, {"factor", scaling.factor}};
  }
  Json json = {{"rope_type", scaling.type}, {"factor", scaling.factor}};
  if (scaling.type == "llama3") {
    json["low_freq_factor"] = scaling.low_freq_factor;
    json["high_freq_factor"] = scaling.high_freq_factor;
  }
  if (scaling.original_max_position_embeddings > 0) {
    json["original_max_position_embeddings"] = scaling.original_max_position_embeddings;
  }
  return json;
}

Json TokenId(const std::optional<int64_t>& id) { return id ? Json(*id) : Json(nullptr); }

}  // namespace

absl::StatusOr<ModelConfig> ParseModelConfig(absl::string_view json_text) {
  TRENCADIS_ASSIGN_OR_RETURN(Json object, ParseJsonObject(json_text));
  JsonFields fields(std::move(object));
  ModelConfig config;
  fields.String("model_type", config.model_type);
  TRENCADIS_RETURN_IF_ERROR(RequireDimensions(fields, config.model_type));
  ReadDimensions(fields, config);
  ReadRest(fields, config);
  TRENCADIS_RETURN_IF_ERROR(ReadRope(fields, config));
  TRENCADIS_RETURN_IF_ERROR(fields.status());
  for (const auto& [key, value] : fields.rest().items()) {
    config.other_fields[key] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  TRENCADIS_RETURN_IF_ERROR(CheckModelConfig(config));
  return config;
}

absl::StatusOr<ModelConfig> ReadModelConfig(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  absl::StatusOr<ModelConfig> config = ParseModelConfig(file.text());
  if (!config.ok()) return Annotate(config.status(), path);
  return config;
}

std::string ModelConfigToJson(const ModelConfig& config) {
  Json json = Json::object();
  for (const auto& [key, text] : config.other_fields) {
    Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!value.is_discarded()) json[key] = std::move(value);
  }
  json["model_type"] = config.model_type;
  json["architectures"] = config.architectures;
  json["vocab_size"] = config.vocab_size;
  json["hidden_size"] = config.hidden_size;
  json["intermediate_size"] = config.intermediate_size;
  json["num_hidden_layers"] = config.num_hidden_layers;
  json["num_attention_heads"] = config.num_attention_heads;
  json["num_key_value_heads"] = config.num_key_value_heads;
  json["head_dim"] = config.head_dim;
  json["max_position_embeddings"] = config.max_position_embeddings;
  json["hidden_act"] = config.hidden_act;
  json["rms_norm_eps"] = config.rms_norm_eps;
  json["initializer_range"] = config.initializer_range;
  json["attention_dropout"] = config.attention_dropout;
  json["attention_bias"] = config.attention_bias;
  json["mlp_bias"] = config.mlp_bias;
  json["tie_word_embeddings"] = config.tie_word_embeddings;
  json["rope_theta"] = config.rope_theta;
  json["rope_scaling"] =
      config.rope_scaling ? RopeScalingToJson(*config.rope_scaling) : Json(nullptr);
  if (config.sliding_window) json["sliding_window"] = *config.sliding_window;
  json["bos_token_id"] = TokenId(config.bos_token_id);
  json["pad_token_id"] = TokenId(config.pad_token_id);
  json["eos_token_id"] = config.eos_token_ids.empty()       ? Json(nullptr)
                         : config.eos_token_ids.size() == 1 ? Json(config.eos_token_ids[0])
                                                            : Json(config.eos_token_ids);
  json["torch_dtype"] = config.torch_dtype;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status CheckModelConfig(const ModelConfig& config) {
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("vocab_size", config.vocab_size));
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("hidden_size", config.hidden_size));
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("intermediate_size", config.intermediate_size));
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("num_hidden_layers", config.num_hidden_layers));
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("num_attention_heads", config.num_attention_heads));
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("num_key_value_heads", config.num_key_value_heads));
  TRENCADIS_RETURN_IF_ERROR(CheckPositive("head_dim", config.head_dim));
  TRENCADIS_RETURN_IF_ERROR(
      CheckPositive("max_position_embeddings", config.max_position_embeddings));
  if (config.sliding_window) {
    TRENCADIS_RETURN_IF_ERROR(CheckPositive("sliding_window", *config.sliding_window));
  }
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"num_attention_heads\" (", config.num_attention_heads,
        ") is not a multiple of \"num_key_value_heads\" (", config.num_key_value_heads, ")"));
  }
  if (config.head_dim % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the width of a head is ", config.head_dim,
                                                   "; rotary embedding needs an even one"));
  }
  return CheckNumbers(config);
}

}  // namespace trencadis::checkpoint
