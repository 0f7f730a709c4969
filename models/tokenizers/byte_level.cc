#include "models/tokenizers/byte_level.h"

#include <array>

#include "absl/container/flat_hash_map.h"
#include "models/tokenizers/utf8.h"

namespace trencadis::tokenizers {
namespace {

struct Tables {
  std::array<std::string, 256> characters;
  absl::flat_hash_map<std::string, char> bytes;
};

// Printable Latin-1 characters stand for themselves, the others for U+0100 and on, in order.
const Tables& ByteTables() {
  static const Tables* const kTables = [] {
    auto* tables = new Tables;
    uint32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable =
          (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      tables->characters[byte] = EncodeUtf8(printable ? byte : next++);
      tables->bytes[tables->characters[byte]] = static_cast<char>(byte);
    }
    return tables;
  }();
  return *kTables;
}

}  // namespace

const std::string& CharacterOfByte(uint8_t byte) { return ByteTables().characters[byte]; }

std::string ToByteLevel(absl::string_view bytes) {
  std::string text;
  for (char byte : bytes) text += CharacterOfByte(static_cast<uint8_t>(byte));
  return text;
}

std::optional<std::string> FromByteLevel(absl::string_view text) {
  const auto& table = ByteTables().bytes;
  std::string bytes;
  while (!text.empty()) {
    const size_t size = CharacterBytes(text);
    const auto it = table.find(text.substr(0, size));
    if (it == table.end()) return std::nullopt;
    bytes += it->second;
    text.remove_prefix(size);
  }
  return bytes;
}

}  // namespace trencadis::tokenizers
