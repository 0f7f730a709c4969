// 128-bit content fingerprints: what recipes, graphs and files are named by.
//
// The algorithm is SipHash-2-4 with its 128-bit output (Aumasson and Bernstein, "SipHash: a fast
// short-input PRF", 2012) under a fixed key. Equal content gives equal fingerprints in every
// process and on every little-endian machine, so they may be stored. They are no protection against
// someone who wants two contents to collide.
//
// A Fingerprinter is used by one thread at a time; a Fingerprint128 is a plain value.
#ifndef TRENCADIS_RUNTIME_BASE_FINGERPRINT_H_
#define TRENCADIS_RUNTIME_BASE_FINGERPRINT_H_

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis {

struct Fingerprint128 {
  uint64_t low = 0;
  uint64_t high = 0;

  // 32 lower-case hexadecimal digits, `high` first.
  std::string ToHex() const;
  // Reads what ToHex writes.
  static absl::StatusOr<Fingerprint128> FromHex(absl::string_view text);

  auto operator<=>(const Fingerprint128&) const = default;

  template <typename H>
  friend H AbslHashValue(H state, const Fingerprint128& value) {
    return H::combine(std::move(state), value.low, value.high);
  }
};

// Collects content, one value after another. Strings and spans are prefixed with their length, and
// every number takes eight bytes whatever its C++ type, so no two different sequences of fields run
// into one another. Types are not marked: where a field may hold one of several, add which first.
class Fingerprinter {
 public:
  Fingerprinter();
  Fingerprinter(uint64_t key_low, uint64_t key_high);

  // Integers, enumerations, bool, float and double (by their bits, so 0.0 and -0.0 differ),
  // fingerprints, and whatever converts to absl::string_view.
  template <typename T>
  Fingerprinter& Add(const T& value) {
    if constexpr (std::is_same_v<T, Fingerprint128>) {
      AddWord(value.low);
      AddWord(value.high);
    } else if constexpr (std::is_same_v<T, float>) {
      AddWord(std::bit_cast<uint32_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      AddWord(std::bit_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      AddWord(static_cast<uint64_t>(value));
    } else {
      AddString(value);
    }
    return *this;
  }

  // The number of elements, then each as Add does.
  template <typename T>
  Fingerprinter& AddSpan(absl::Span<const T> values) {
    AddWord(values.size());
    for (const T& value : values) Add(value);
    return *this;
  }

  // `bytes` as they are, without their length: the pieces of one stream may be cut anywhere.
  Fingerprinter& AddBytes(absl::Span<const std::byte> bytes);

  // The fingerprint of everything added so far; more may be added afterwards.
  Fingerprint128 Finish() const;

 private:
  using State = std::array<uint64_t, 4>;

  void AddWord(uint64_t word);
  void AddString(absl::string_view text);

  State state_;
  uint64_t pending_ = 0;  // The last size_bytes_ % 8 bytes, in the low end.
  uint64_t size_bytes_ = 0;
};

// The fingerprint of one piece of content.
Fingerprint128 FingerprintOf(absl::Span<const std::byte> bytes);
Fingerprint128 FingerprintOf(absl::string_view text);

}  // namespace trencadis

template <>
struct std::hash<trencadis::Fingerprint128> {
  size_t operator()(const trencadis::Fingerprint128& value) const { return value.low; }
};

#endif  // TRENCADIS_RUNTIME_BASE_FINGERPRINT_H_
