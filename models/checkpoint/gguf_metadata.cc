#include "models/checkpoint/gguf_metadata.h"

#include <limits>
#include <optional>
#include <utility>

#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

// Bytes of one value; 0 for strings, whose length varies, and for arrays.
uint64_t ValueBytes(GgufValueType type) {
  switch (type) {
    case GgufValueType::kU8:
    case GgufValueType::kI8:
    case GgufValueType::kBool:
      return 1;
    case GgufValueType::kU16:
    case GgufValueType::kI16:
      return 2;
    case GgufValueType::kU32:
    case GgufValueType::kI32:
    case GgufValueType::kF32:
      return 4;
    case GgufValueType::kU64:
    case GgufValueType::kI64:
    case GgufValueType::kF64:
      return 8;
    case GgufValueType::kString:
    case GgufValueType::kArray:
      return 0;
  }
  return 0;
}

absl::string_view TypeName(const GgufValue& value) {
  static constexpr absl::string_view kNames[] = {"u8",  "i8",  "u16",  "i16",    "u32",
                                                 "i32", "f32", "bool", "string", "array",
                                                 "u64", "i64", "f64"};
  return kNames[static_cast<size_t>(value.type)];
}

absl::StatusOr<GgufValueType> NextType(GgufCursor& cursor) {
  TRENCADIS_ASSIGN_OR_RETURN(const uint32_t type, cursor.Next<uint32_t>());
  if (type > static_cast<uint32_t>(GgufValueType::kF64)) {
    return absl::InvalidArgumentError(absl::StrCat("value type ", type, " is unknown"));
  }
  return static_cast<GgufValueType>(type);
}

// `count` values that follow each other, as one view.
absl::StatusOr<absl::Span<const std::byte>> NextValues(GgufCursor& cursor, GgufValueType type,
                                                       uint64_t count) {
  if (type == GgufValueType::kString) {
    GgufCursor strings = cursor;
    for (uint64_t i = 0; i < count; ++i) TRENCADIS_RETURN_IF_ERROR(strings.NextString().status());
    return cursor.NextBytes(strings.position() - cursor.position());
  }
  const uint64_t each = ValueBytes(type);
  if (count > cursor.remaining() / each) {
    return absl::DataLossError(absl::StrCat("an array of ", count, " values of ", each,
                                            " bytes does not fit in the file"));
  }
  return cursor.NextBytes(count * each);
}

absl::StatusOr<GgufValue> NextValue(GgufCursor& cursor) {
  GgufValue value;
  TRENCADIS_ASSIGN_OR_RETURN(value.type, NextType(cursor));
  if (value.type == GgufValueType::kArray) {
    value.is_array = true;
    TRENCADIS_ASSIGN_OR_RETURN(value.type, NextType(cursor));
    if (value.type == GgufValueType::kArray) {
      return absl::InvalidArgumentError("an array of arrays is not allowed");
    }
    TRENCADIS_ASSIGN_OR_RETURN(value.count, cursor.Next<uint64_t>());
  }
  TRENCADIS_ASSIGN_OR_RETURN(value.bytes, NextValues(cursor, value.type, value.count));
  return value;
}

template <typename T>
T LoadAt(const GgufValue& value, uint64_t index) {
  T loaded;
  std::memcpy(&loaded, value.bytes.data() + index * sizeof(T), sizeof(T));
  return loaded;
}

// Empty where the type is no integer or the value exceeds int64_t.
std::optional<int64_t> IntAt(const GgufValue& value, uint64_t index) {
  switch (value.type) {
    case GgufValueType::kU8:
      return LoadAt<uint8_t>(value, index);
    case GgufValueType::kI8:
      return LoadAt<int8_t>(value, index);
    case GgufValueType::kU16:
      return LoadAt<uint16_t>(value, index);
    case GgufValueType::kI16:
      return LoadAt<int16_t>(value, index);
    case GgufValueType::kU32:
      return LoadAt<uint32_t>(value, index);
    case GgufValueType::kI32:
      return LoadAt<int32_t>(value, index);
    case GgufValueType::kI64:
      return LoadAt<int64_t>(value, index);
    case GgufValueType::kU64: {
      const uint64_t loaded = LoadAt<uint64_t>(value, index);
      if (loaded > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
      return static_cast<int64_t>(loaded);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> NumberAt(const GgufValue& value, uint64_t index) {
  if (value.type == GgufValueType::kF32) return LoadAt<float>(value, index);
  if (value.type == GgufValueType::kF64) return LoadAt<double>(value, index);
  return std::nullopt;
}

absl::Status WrongType(absl::string_view key, const GgufValue& value, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("'", key, "' is ",
                                                 value.is_array ? "an array of " : "",
                                                 TypeName(value), "; wanted ", wanted));
}

}  // namespace

absl::StatusOr<absl::Span<const std::byte>> GgufCursor::NextBytes(uint64_t count) {
  if (count > remaining()) {
    return absl::DataLossError(absl::StrCat("the file ends at byte ", bytes_.size(), ", but ",
                                            count, " bytes are wanted from byte ", position_,
                                            ": is the download complete?"));
  }
  const auto bytes = bytes_.subspan(position_, count);
  position_ += count;
  return bytes;
}

absl::StatusOr<absl::string_view> GgufCursor::NextString() {
  TRENCADIS_ASSIGN_OR_RETURN(const uint64_t length, Next<uint64_t>());
  TRENCADIS_ASSIGN_OR_RETURN(const auto bytes, NextBytes(length));
  return absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::StatusOr<GgufMetadata> GgufMetadata::Parse(GgufCursor& cursor, uint64_t count) {
  GgufMetadata metadata;
  for (uint64_t i = 0; i < count; ++i) {
    TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view key, cursor.NextString());
    absl::StatusOr<GgufValue> value = NextValue(cursor);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("metadata '", key, "'"));
    if (!metadata.values_.emplace(std::string(key), *value).second) {
      return absl::InvalidArgumentError(absl::StrCat("metadata '", key, "' is there twice"));
    }
  }
  return metadata;
}

const GgufValue* GgufMetadata::Find(absl::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

absl::Status GgufMetadata::Int(absl::string_view key, int64_t& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  const std::optional<int64_t> number = value->is_array ? std::nullopt : IntAt(*value, 0);
  if (!number) return WrongType(key, *value, "an integer below 2^63");
  out = *number;
  return absl::OkStatus();
}

absl::Status GgufMetadata::Number(absl::string_view key, double& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  const std::optional<double> number = value->is_array ? std::nullopt : NumberAt(*value, 0);
  if (!number) return WrongType(key, *value, "f32");
  out = *number;
  return absl::OkStatus();
}

absl::Status GgufMetadata::Bool(absl::string_view key, bool& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (value->is_array || value->type != GgufValueType::kBool) return WrongType(key, *value, "bool");
  out = value->bytes[0] != std::byte{0};
  return absl::OkStatus();
}

absl::Status GgufMetadata::String(absl::string_view key, std::string& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (value->is_array || value->type != GgufValueType::kString) {
    return WrongType(key, *value, "a string");
  }
  out = std::string(*GgufCursor(value->bytes).NextString());
  return absl::OkStatus();
}

absl::Status GgufMetadata::Strings(absl::string_view key,
                                   std::vector<absl::string_view>& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_array || value->type != GgufValueType::kString) {
    return WrongType(key, *value, "an array of strings");
  }
  out.clear();
  GgufCursor cursor(value->bytes);
  for (uint64_t i = 0; i < value->count; ++i) out.push_back(*cursor.NextString());
  return absl::OkStatus();
}

absl::Status GgufMetadata::Ints(absl::string_view key, std::vector<int64_t>& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  out.clear();
  for (uint64_t i = 0; value->is_array && i < value->count; ++i) {
    const std::optional<int64_t> number = IntAt(*value, i);
    if (!number) return WrongType(key, *value, "an array of integers");
    out.push_back(*number);
  }
  return value->is_array ? absl::OkStatus() : WrongType(key, *value, "an array of integers");
}

absl::Status GgufMetadata::Numbers(absl::string_view key, std::vector<float>& out) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  out.clear();
  for (uint64_t i = 0; value->is_array && i < value->count; ++i) {
    const std::optional<double> number = NumberAt(*value, i);
    if (!number) return WrongType(key, *value, "an array of f32");
    out.push_back(static_cast<float>(*number));
  }
  return value->is_array ? absl::OkStatus() : WrongType(key, *value, "an array of f32");
}

}  // namespace trencadis::checkpoint
