#include "runtime/ir/attributes.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "runtime/ir/graph.h"

namespace trencadis::ir {
namespace {

template <typename T>
bool EqualValues(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    // By bits: an attribute is an identity, so NaN equals itself and 0 differs from -0.
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  } else if constexpr (std::is_same_v<T, LiteralPtr> || std::is_same_v<T, GraphPtr>) {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
  } else {
    return a == b;
  }
}

bool EqualAttributes(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& value) {
        return EqualValues(value, std::get<std::decay_t<decltype(value)>>(b));
      },
      a);
}

struct NameLess {
  bool operator()(const Attributes::Entry& entry, absl::string_view name) const {
    return entry.first < name;
  }
};

}  // namespace

Attributes::Attributes(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) Set(entry.first, entry.second);
}

void Attributes::Set(absl::string_view name, Attribute value) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess());
  if (it != entries_.end() && it->first == name) {
    it->second = std::move(value);
  } else {
    entries_.insert(it, Entry(std::string(name), std::move(value)));
  }
}

void Attributes::Erase(absl::string_view name) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess());
  if (it != entries_.end() && it->first == name) entries_.erase(it);
}

const Attribute* Attributes::Find(absl::string_view name) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess());
  return it != entries_.end() && it->first == name ? &it->second : nullptr;
}

bool Attributes::operator==(const Attributes& other) const {
  return std::equal(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
                    [](const Entry& a, const Entry& b) {
                      return a.first == b.first && EqualAttributes(a.second, b.second);
                    });
}

}  // namespace trencadis::ir
