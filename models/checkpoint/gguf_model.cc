#include "models/checkpoint/gguf_model.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

constexpr absl::string_view kEmbedding = "token_embd.weight";
constexpr absl::string_view kHead = "output.weight";

struct Renaming {
  absl::string_view gguf;
  absl::string_view hugging_face;
};

constexpr Renaming kModelTensors[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};

constexpr Renaming kLayerTensors[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

template <size_t N>
std::optional<absl::string_view> Rename(const Renaming (&table)[N], absl::string_view name) {
  for (const Renaming& row : table) {
    if (row.gguf == name) return row.hugging_face;
  }
  return std::nullopt;
}

// "blk.3.attn_q.weight" -> 3 and "attn_q.weight".
bool SplitLayer(absl::string_view name, int64_t& layer, absl::string_view& rest) {
  constexpr absl::string_view kPrefix = "blk.";
  if (!absl::StartsWith(name, kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const size_t dot = name.find('.');
  if (dot == absl::string_view::npos || !absl::SimpleAtoi(name.substr(0, dot), &layer))
    return false;
  rest = name.substr(dot + 1);
  return layer >= 0 && name.substr(0, dot) == absl::StrCat(layer);
}

// Reads "llama." keys; a key that must be there and is not becomes an error.
class LlamaKeys {
 public:
  explicit LlamaKeys(const GgufMetadata& metadata) : metadata_(metadata) {}

  absl::Status Int(absl::string_view key, int64_t& out) const {
    return metadata_.Int(Full(key), out);
  }
  absl::Status Number(absl::string_view key, double& out) const {
    return metadata_.Number(Full(key), out);
  }
  absl::Status String(absl::string_view key, std::string& out) const {
    return metadata_.String(Full(key), out);
  }
  absl::Status RequiredInt(absl::string_view key, int64_t& out) const {
    if (!metadata_.Has(Full(key))) {
      return absl::InvalidArgumentError(absl::StrCat("metadata '", Full(key), "' is missing"));
    }
    return Int(key, out);
  }

 private:
  static std::string Full(absl::string_view key) { return absl::StrCat("llama.", key); }

  const GgufMetadata& metadata_;
};

absl::Status ReadDimensions(const LlamaKeys& keys, ModelConfig& config) {
  TRENCADIS_RETURN_IF_ERROR(keys.RequiredInt("block_count", config.num_hidden_layers));
  TRENCADIS_RETURN_IF_ERROR(keys.RequiredInt("embedding_length", config.hidden_size));
  TRENCADIS_RETURN_IF_ERROR(keys.RequiredInt("feed_forward_length", config.intermediate_size));
  TRENCADIS_RETURN_IF_ERROR(keys.RequiredInt("attention.head_count", config.num_attention_heads));
  config.num_key_value_heads = config.num_attention_heads;
  TRENCADIS_RETURN_IF_ERROR(keys.Int("attention.head_count_kv", config.num_key_value_heads));
  TRENCADIS_RETURN_IF_ERROR(keys.Int("context_length", config.max_position_embeddings));
  if (config.num_attention_heads > 0) {
    config.head_dim = config.hidden_size / config.num_attention_heads;
  }
  TRENCADIS_RETURN_IF_ERROR(keys.Int("attention.key_length", config.head_dim));
  int64_t rotary_width = config.head_dim;
  TRENCADIS_RETURN_IF_ERROR(keys.Int("rope.dimension_count", rotary_width));
  if (rotary_width != config.head_dim) {
    return absl::UnimplementedError(absl::StrCat("llama.rope.dimension_count is ", rotary_width,
                                                 ", heads are ", config.head_dim,
                                                 " wide: partial rotary embedding cannot be run"));
  }
  int64_t experts = 0;
  TRENCADIS_RETURN_IF_ERROR(keys.Int("expert_count", experts));
  if (experts > 0) {
    return absl::UnimplementedError(
        absl::StrCat("a mixture of ", experts, " experts (llama.expert_count) cannot be run"));
  }
  return absl::OkStatus();
}

absl::Status ReadNumbers(const LlamaKeys& keys, ModelConfig& config) {
  TRENCADIS_RETURN_IF_ERROR(keys.Number("attention.layer_norm_rms_epsilon", config.rms_norm_eps));
  TRENCADIS_RETURN_IF_ERROR(keys.Number("rope.freq_base", config.rope_theta));
  RopeScaling scaling;
  TRENCADIS_RETURN_IF_ERROR(keys.String("rope.scaling.type", scaling.type));
  TRENCADIS_RETURN_IF_ERROR(keys.Number("rope.scaling.factor", scaling.factor));
  TRENCADIS_RETURN_IF_ERROR(
      keys.Int("rope.scaling.original_context_length", scaling.original_max_position_embeddings));
  if (!scaling.type.empty() && scaling.type != "none") config.rope_scaling = scaling;
  return absl::OkStatus();
}

// Ids of -1 (as u32) and absent ones stay empty.
absl::Status ReadTokenIds(const GgufMetadata& metadata, ModelConfig& config) {
  const auto read = [&](absl::string_view key) -> absl::StatusOr<std::optional<int64_t>> {
    int64_t id = -1;
    TRENCADIS_RETURN_IF_ERROR(metadata.Int(absl::StrCat("tokenizer.ggml.", key), id));
    const bool unset = id < 0 || id == std::numeric_limits<uint32_t>::max();
    return unset ? std::nullopt : std::optional<int64_t>(id);
  };
  TRENCADIS_ASSIGN_OR_RETURN(config.bos_token_id, read("bos_token_id"));
  TRENCADIS_ASSIGN_OR_RETURN(config.pad_token_id, read("padding_token_id"));
  TRENCADIS_ASSIGN_OR_RETURN(const std::optional<int64_t> eos, read("eos_token_id"));
  if (eos) config.eos_token_ids = {*eos};
  return absl::OkStatus();
}

// What only the tensors tell: vocabulary, biases, whether the head is tied.
absl::Status ReadFromTensors(const GgufFile& file, ModelConfig& config) {
  TRENCADIS_ASSIGN_OR_RETURN(const TensorInfo* embedding, file.Get(kEmbedding));
  if (embedding->shape.rank() != 2) {
    return absl::InvalidArgumentError(absl::StrCat("'", kEmbedding, "' has the shape ",
                                                   embedding->shape.ToString(),
                                                   "; wanted [vocabulary, width]"));
  }
  config.vocab_size = embedding->shape.dim(0);
  const TensorInfo* head = file.Find(kHead);
  config.tie_word_embeddings =
      head == nullptr ||
      (head->stored_as == embedding->stored_as && head->shape == embedding->shape &&
       absl::c_equal(file.StoredBytes(*head), file.StoredBytes(*embedding)));
  config.attention_bias = file.Find("blk.0.attn_q.bias") != nullptr;
  config.mlp_bias = file.Find("blk.0.ffn_up.bias") != nullptr;
  return absl::OkStatus();
}

bool IsInterleaved(absl::string_view gguf_name) {
  return absl::StrContains(gguf_name, ".attn_q.") || absl::StrContains(gguf_name, ".attn_k.");
}

class LlamaTensors : public TensorSource {
 public:
  LlamaTensors(std::unique_ptr<GgufFile> file, int64_t head_dim)
      : file_(std::move(file)), head_dim_(head_dim) {}

  absl::Status Rename(bool tied_head) {
    std::vector<TensorInfo> infos;
    std::vector<std::pair<std::string, const TensorInfo*>> by_name;
    for (const TensorInfo& info : file_->tensors()) {
      if (tied_head && info.name == kHead) continue;
      const std::optional<std::string> name = HuggingFaceName(info.name);
      if (!name) {
        return absl::UnimplementedError(
            absl::StrCat("tensor '", info.name, "' has no place in a llama model"));
      }
      by_name.emplace_back(*name, &info);
      infos.push_back(info);
      infos.back().name = *name;
    }
    std::sort(by_name.begin(), by_name.end());
    for (const auto& [name, info] : by_name) stored_.push_back(info);
    return SetTensors(std::move(infos));
  }

 protected:
  absl::Status ReadCheckedRows(const TensorInfo& info, int64_t first_row, int64_t rows, DType dtype,
                               absl::Span<std::byte> out) const override {
    const std::string& name = stored_[IndexOf(info)]->name;
    if (!IsInterleaved(name)) return file_->ReadRowsInto(name, first_row, rows, dtype, out);
    const size_t row_bytes = out.size() / rows;
    for (int64_t row = 0; row < rows; ++row) {
      TRENCADIS_RETURN_IF_ERROR(file_->ReadRowsInto(name, InterleavedRow(first_row + row), 1, dtype,
                                                    out.subspan(row * row_bytes, row_bytes)));
    }
    return absl::OkStatus();
  }

 private:
  // Where llama.cpp's converter (`permute` in convert_hf_to_gguf.py) put a row: rows i and i + D/2
  // of a head of width D become neighbours.
  int64_t InterleavedRow(int64_t row) const {
    const int64_t head = row / head_dim_;
    const int64_t within = row % head_dim_;
    const int64_t half = head_dim_ / 2;
    return head * head_dim_ + within % half * 2 + within / half;
  }

  std::unique_ptr<GgufFile> file_;
  int64_t head_dim_;
  std::vector<const TensorInfo*> stored_;  // parallel to tensors()
};

}  // namespace

std::optional<std::string> HuggingFaceName(absl::string_view gguf_name) {
  const size_t dot = gguf_name.rfind('.');
  if (dot == absl::string_view::npos) return std::nullopt;
  const absl::string_view suffix = gguf_name.substr(dot);
  if (suffix != ".weight" && suffix != ".bias") return std::nullopt;
  const absl::string_view stem = gguf_name.substr(0, dot);
  if (const auto name = Rename(kModelTensors, stem)) return absl::StrCat(*name, suffix);
  int64_t layer = 0;
  absl::string_view rest;
  if (!SplitLayer(stem, layer, rest)) return std::nullopt;
  const auto name = Rename(kLayerTensors, rest);
  if (!name) return std::nullopt;
  return absl::StrCat("model.layers.", layer, ".", *name, suffix);
}

absl::StatusOr<ModelConfig> ConfigFromGguf(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  std::string architecture;
  TRENCADIS_RETURN_IF_ERROR(metadata.String("general.architecture", architecture));
  if (architecture != "llama") {
    return absl::UnimplementedError(absl::StrCat("general.architecture is '", architecture,
                                                 "'; only 'llama' can be read from GGUF"));
  }
  ModelConfig config;
  config.architectures = {"LlamaForCausalLM"};
  const LlamaKeys keys(metadata);
  TRENCADIS_RETURN_IF_ERROR(ReadDimensions(keys, config));
  TRENCADIS_RETURN_IF_ERROR(ReadNumbers(keys, config));
  TRENCADIS_RETURN_IF_ERROR(ReadTokenIds(metadata, config));
  TRENCADIS_RETURN_IF_ERROR(ReadFromTensors(file, config));
  TRENCADIS_RETURN_IF_ERROR(CheckModelConfig(config));
  return config;
}

absl::StatusOr<std::unique_ptr<TensorSource>> TensorsFromGguf(std::unique_ptr<GgufFile> file,
                                                              const ModelConfig& config) {
  for (const TensorInfo& info : file->tensors()) {
    if (IsInterleaved(info.name) &&
        (info.shape.rank() == 0 || info.shape.dim(0) % config.head_dim != 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", info.name, "' has the shape ", info.shape.ToString(),
                       "; its rows must form heads of ", config.head_dim));
    }
  }
  auto tensors = std::make_unique<LlamaTensors>(std::move(file), config.head_dim);
  TRENCADIS_RETURN_IF_ERROR(tensors->Rename(config.tie_word_embeddings));
  return tensors;
}

}  // namespace trencadis::checkpoint
