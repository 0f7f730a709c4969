#include "runtime/base/fingerprint.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace trencadis {
namespace {

static_assert(std::endian::native == std::endian::little, "fingerprints are stored");

// Any constants do; these are the first bits of pi's fraction.
constexpr uint64_t kKeyLow = 0x243f6a8885a308d3;
constexpr uint64_t kKeyHigh = 0x13198a2e03707344;

void Round(std::array<uint64_t, 4>& v) {
  v[0] += v[1];
  v[1] = std::rotl(v[1], 13);
  v[1] ^= v[0];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[3];
  v[3] = std::rotl(v[3], 16);
  v[3] ^= v[2];
  v[0] += v[3];
  v[3] = std::rotl(v[3], 21);
  v[3] ^= v[0];
  v[2] += v[1];
  v[1] = std::rotl(v[1], 17);
  v[1] ^= v[2];
  v[2] = std::rotl(v[2], 32);
}

void Compress(std::array<uint64_t, 4>& v, uint64_t word) {
  v[3] ^= word;
  Round(v);
  Round(v);
  v[0] ^= word;
}

uint64_t FinalRounds(std::array<uint64_t, 4>& v) {
  for (int i = 0; i < 4; ++i) Round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Fingerprint128::ToHex() const {
  return absl::StrCat(absl::Hex(high, absl::kZeroPad16), absl::Hex(low, absl::kZeroPad16));
}

absl::StatusOr<Fingerprint128> Fingerprint128::FromHex(absl::string_view text) {
  const auto malformed = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("bad fingerprint '", text, "'; wanted 32 lower-case hexadecimal digits"));
  };
  if (text.size() != 32) return malformed();
  Fingerprint128 result;
  for (char c : text) {
    const int digit = HexDigit(c);
    if (digit < 0) return malformed();
    result.high = result.high << 4 | result.low >> 60;
    result.low = result.low << 4 | static_cast<uint64_t>(digit);
  }
  return result;
}

Fingerprinter::Fingerprinter() : Fingerprinter(kKeyLow, kKeyHigh) {}

// 0xee marks the variant with 128 bits of output.
Fingerprinter::Fingerprinter(uint64_t key_low, uint64_t key_high)
    : state_{key_low ^ 0x736f6d6570736575, key_high ^ 0x646f72616e646f6d ^ 0xee,
             key_low ^ 0x6c7967656e657261, key_high ^ 0x7465646279746573} {}

void Fingerprinter::AddWord(uint64_t word) {
  const int pending_bits = static_cast<int>(size_bytes_ % 8) * 8;
  size_bytes_ += 8;
  if (pending_bits == 0) {
    Compress(state_, word);
  } else {
    Compress(state_, pending_ | word << pending_bits);
    pending_ = word >> (64 - pending_bits);
  }
}

void Fingerprinter::AddString(absl::string_view text) {
  AddWord(text.size());
  AddBytes(absl::MakeConstSpan(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

Fingerprinter& Fingerprinter::AddBytes(absl::Span<const std::byte> bytes) {
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    AddWord(word);
  }
  for (; i < bytes.size(); ++i) {
    pending_ |= static_cast<uint64_t>(bytes[i]) << (size_bytes_ % 8 * 8);
    if (++size_bytes_ % 8 == 0) {
      Compress(state_, pending_);
      pending_ = 0;
    }
  }
  return *this;
}

Fingerprint128 Fingerprinter::Finish() const {
  State v = state_;
  Compress(v, pending_ | size_bytes_ << 56);
  Fingerprint128 result;
  v[2] ^= 0xee;
  result.low = FinalRounds(v);
  v[1] ^= 0xdd;
  result.high = FinalRounds(v);
  return result;
}

Fingerprint128 FingerprintOf(absl::Span<const std::byte> bytes) {
  return Fingerprinter().AddBytes(bytes).Finish();
}

Fingerprint128 FingerprintOf(absl::string_view text) {
  return FingerprintOf(
      absl::MakeConstSpan(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

}  // namespace trencadis
