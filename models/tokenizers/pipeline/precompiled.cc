#include "models/tokenizers/pipeline/precompiled.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "models/tokenizers/utf8.h"
#include "runtime/base/status.h"

namespace trencadis::tokenizers::pipeline {
namespace {

// Clusters of this many bytes or more are not looked up as a whole.
constexpr size_t kMaxClusterBytes = 6;

// The fields of a unit of the double array (darts.h of Darts-clone, DoubleArrayUnit).
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t Value(uint32_t unit) { return unit & 0x7fffffffu; }
uint32_t Label(uint32_t unit) { return unit & 0x800000ffu; }
uint32_t Offset(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }

std::vector<absl::string_view> Clusters(const std::string& text) {
  const icu::UnicodeString units = icu::UnicodeString::fromUTF8(text);
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
  TRENCADIS_CHECK(U_SUCCESS(code));  // ICU's own data is missing otherwise.
  breaks->setText(units);
  std::vector<absl::string_view> clusters;
  size_t at = 0;
  int32_t begin = breaks->first();
  for (int32_t end; (end = breaks->next()) != icu::BreakIterator::DONE; begin = end) {
    std::string cluster;
    units.tempSubStringBetween(begin, end).toUTF8String(cluster);
    clusters.push_back(absl::string_view(text).substr(at, cluster.size()));
    at += cluster.size();
  }
  return clusters;
}

}  // namespace

absl::StatusOr<PrecompiledMap> PrecompiledMap::Parse(absl::string_view bytes) {
  uint32_t trie_bytes = 0;
  if (bytes.size() >= sizeof(trie_bytes))
    std::memcpy(&trie_bytes, bytes.data(), sizeof(trie_bytes));
  if (trie_bytes == 0 || trie_bytes % sizeof(uint32_t) != 0 ||
      trie_bytes > bytes.size() - sizeof(trie_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a precompiled map of ", bytes.size(), " bytes is damaged"));
  }
  PrecompiledMap map;
  bytes.remove_prefix(sizeof(trie_bytes));
  map.trie_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(map.trie_.data(), bytes.data(), trie_bytes);
  map.replacements_ = std::string(bytes.substr(trie_bytes));
  TRENCADIS_RETURN_IF_ERROR(CheckUtf8(map.replacements_));
  return map;
}

std::optional<absl::string_view> PrecompiledMap::Find(absl::string_view text) const {
  uint32_t node = Offset(trie_[0]);
  for (char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (byte == 0) break;
    node ^= byte;
    if (node >= trie_.size() || Label(trie_[node]) != byte) return std::nullopt;
    const bool is_entry = HasLeaf(trie_[node]);
    node ^= Offset(trie_[node]);
    if (!is_entry) continue;
    if (node >= trie_.size()) return std::nullopt;
    const size_t begin = std::min<size_t>(Value(trie_[node]), replacements_.size());
    const size_t end = std::min(replacements_.find('\0', begin), replacements_.size());
    return absl::string_view(replacements_).substr(begin, end - begin);
  }
  return std::nullopt;
}

std::string PrecompiledMap::Normalize(const std::string& text) const {
  std::string normalized;
  for (absl::string_view cluster : Clusters(text)) {
    if (cluster.size() < kMaxClusterBytes) {
      if (const auto replacement = Find(cluster)) {
        absl::StrAppend(&normalized, *replacement);
        continue;
      }
    }
    while (!cluster.empty()) {
      const absl::string_view character =
          cluster.substr(0, std::max<size_t>(1, CharacterBytes(cluster)));
      absl::StrAppend(&normalized, Find(character).value_or(character));
      cluster.remove_prefix(character.size());
    }
  }
  return normalized;
}

}  // namespace trencadis::tokenizers::pipeline
