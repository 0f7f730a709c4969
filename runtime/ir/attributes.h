// Attributes: the compile-time parameters of a node (axes, flags, literals), sorted by name.
//
// Attributes are part of a graph's identity: a value that varies from step to step (learning rate,
// position, seed) is an input, never an attribute.
#ifndef TRENCADIS_RUNTIME_IR_ATTRIBUTES_H_
#define TRENCADIS_RUNTIME_IR_ATTRIBUTES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/core/literal.h"

namespace trencadis::ir {

class Graph;

using LiteralPtr = std::shared_ptr<const Literal>;
using GraphPtr = std::shared_ptr<const Graph>;

// A `Graph` attribute is the body of a fusion node.
using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, DType,
                               LiteralPtr, GraphPtr>;

class Attributes {
 public:
  using Entry = std::pair<std::string, Attribute>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries);

  // Adds or replaces.
  void Set(absl::string_view name, Attribute value);
  void Erase(absl::string_view name);
  // Null when absent.
  const Attribute* Find(absl::string_view name) const;
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }

  // The attribute `name` as T; CHECKs that it is there with that type (the op's Infer has verified
  // it).
  template <typename T>
  const T& Get(absl::string_view name) const {
    const Attribute* attribute = Find(name);
    TRENCADIS_CHECK(attribute != nullptr && std::holds_alternative<T>(*attribute));
    return std::get<T>(*attribute);
  }
  // The attribute, or `fallback` when absent.
  template <typename T>
  T GetOr(absl::string_view name, T fallback) const {
    const Attribute* attribute = Find(name);
    if (attribute == nullptr) return fallback;
    TRENCADIS_CHECK(std::holds_alternative<T>(*attribute));
    return std::get<T>(*attribute);
  }

  const std::vector<Entry>& entries() const { return entries_; }

  // Literals and bodies compare by content.
  bool operator==(const Attributes& other) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_ATTRIBUTES_H_
