// For tests: the bytes of GGUF files, right or wrong, put together piece by piece.
#ifndef TRENCADIS_MODELS_CHECKPOINT_GGUF_BUILDER_H_
#define TRENCADIS_MODELS_CHECKPOINT_GGUF_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/checkpoint/gguf_metadata.h"

namespace trencadis::checkpoint {

// Values are appended in the order of the calls. Not thread-safe.
class GgufBuilder {
 public:
  GgufBuilder& U32(const std::string& key, uint32_t value) {
    return Pair(key, GgufValueType::kU32, Raw(value));
  }
  GgufBuilder& F32(const std::string& key, float value) {
    return Pair(key, GgufValueType::kF32, Raw(value));
  }
  GgufBuilder& Bool(const std::string& key, bool value) {
    return Pair(key, GgufValueType::kBool, Raw(value));
  }
  GgufBuilder& String(const std::string& key, const std::string& value) {
    return Pair(key, GgufValueType::kString, Text(value));
  }
  GgufBuilder& Strings(const std::string& key, const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) bytes += Text(value);
    return Array(key, GgufValueType::kString, values.size(), bytes);
  }
  GgufBuilder& Floats(const std::string& key, const std::vector<float>& values) {
    std::string bytes;
    for (float value : values) bytes += Raw(value);
    return Array(key, GgufValueType::kF32, values.size(), bytes);
  }
  GgufBuilder& Ints(const std::string& key, const std::vector<int32_t>& values) {
    std::string bytes;
    for (int32_t value : values) bytes += Raw(value);
    return Array(key, GgufValueType::kI32, values.size(), bytes);
  }

  // `dims` in the file's order, innermost first; `type` is ggml's number; `data` as stored.
  GgufBuilder& Tensor(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type,
                      const std::string& data) {
    infos_ += Text(name) + Raw(static_cast<uint32_t>(dims.size()));
    for (uint64_t dim : dims) infos_ += Raw(dim);
    infos_ += Raw(type) + Raw(static_cast<uint64_t>(data_.size()));
    data_ += data;
    Pad(data_);
    ++tensors_;
    return *this;
  }
  // An f32 tensor of `value`s.
  GgufBuilder& Constant(const std::string& name, const std::vector<uint64_t>& dims, float value) {
    uint64_t elements = 1;
    for (uint64_t dim : dims) elements *= dim;
    std::string data;
    for (uint64_t i = 0; i < elements; ++i) data += Raw(value);
    return Tensor(name, dims, 0, data);
  }

  // The whole file.
  std::string Build() const {
    std::string file =
        "GGUF" + Raw(uint32_t{3}) + Raw(tensors_) + Raw(pair_count_) + pairs_ + infos_;
    Pad(file);
    return file + data_;
  }

  // The bytes of a number.
  template <typename T>
  static std::string Raw(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  }

 private:
  static std::string Text(const std::string& text) {
    return Raw(static_cast<uint64_t>(text.size())) + text;
  }
  static void Pad(std::string& bytes) { bytes.resize((bytes.size() + 31) / 32 * 32, '\0'); }
  GgufBuilder& Pair(const std::string& key, GgufValueType type, const std::string& value) {
    pairs_ += Text(key) + Raw(static_cast<uint32_t>(type)) + value;
    ++pair_count_;
    return *this;
  }
  GgufBuilder& Array(const std::string& key, GgufValueType type, uint64_t count,
                     const std::string& values) {
    return Pair(key, GgufValueType::kArray, Raw(static_cast<uint32_t>(type)) + Raw(count) + values);
  }

  uint64_t pair_count_ = 0;
  uint64_t tensors_ = 0;
  std::string pairs_;
  std::string infos_;
  std::string data_;
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_GGUF_BUILDER_H_
