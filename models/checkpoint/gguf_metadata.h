// The key-value section of a GGUF file, and the cursor that reads the file's structures.
//
// Nothing is copied or allocated by a count that the file claims: values are views into the mapped
// file, checked to lie inside it.
#ifndef TRENCADIS_MODELS_CHECKPOINT_GGUF_METADATA_H_
#define TRENCADIS_MODELS_CHECKPOINT_GGUF_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis::checkpoint {

// Takes little-endian values off the front of `bytes`; DataLoss where they end too early.
class GgufCursor {
 public:
  explicit GgufCursor(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  absl::StatusOr<absl::Span<const std::byte>> NextBytes(uint64_t count);
  // A u64 length and that many bytes.
  absl::StatusOr<absl::string_view> NextString();
  template <typename T>
  absl::StatusOr<T> Next() {
    const auto bytes = NextBytes(sizeof(T));
    if (!bytes.ok()) return bytes.status();
    T value;
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }

 private:
  absl::Span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

// The value types of the format, by its numbers.
enum class GgufValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

// One value, or an array of `count` values of `type`, as it lies in the file.
struct GgufValue {
  GgufValueType type;
  bool is_array = false;
  uint64_t count = 1;
  absl::Span<const std::byte> bytes;
};

// The reading methods leave `out` alone when the key is absent and fail, naming the key, when its
// value has another type. Views are valid as long as the mapped file.
class GgufMetadata {
 public:
  // Reads `count` pairs. InvalidArgument for a repeated key or an unknown type.
  static absl::StatusOr<GgufMetadata> Parse(GgufCursor& cursor, uint64_t count);

  bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  // nullptr when absent.
  const GgufValue* Find(absl::string_view key) const;

  // Any integer type, if the value fits.
  absl::Status Int(absl::string_view key, int64_t& out) const;
  // f32 or f64.
  absl::Status Number(absl::string_view key, double& out) const;
  absl::Status Bool(absl::string_view key, bool& out) const;
  absl::Status String(absl::string_view key, std::string& out) const;
  absl::Status Strings(absl::string_view key, std::vector<absl::string_view>& out) const;
  // Arrays of any integer type, and of f32 or f64.
  absl::Status Ints(absl::string_view key, std::vector<int64_t>& out) const;
  absl::Status Numbers(absl::string_view key, std::vector<float>& out) const;

 private:
  std::map<std::string, GgufValue, std::less<>> values_;
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_GGUF_METADATA_H_
