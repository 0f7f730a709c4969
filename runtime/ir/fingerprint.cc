#include "runtime/ir/fingerprint.h"

#include <type_traits>

namespace trencadis::ir {
namespace {

void AddType(Fingerprinter& f, const TensorType& type) {
  f.Add(type.dtype).AddSpan(absl::MakeConstSpan(type.shape.dims()));
}

void AddValue(Fingerprinter& f, Value value) { f.Add(value.node).Add(value.output); }

void AddAttribute(Fingerprinter& f, const Attribute& attribute) {
  f.Add(attribute.index());
  std::visit(
      [&f](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          f.AddSpan(absl::MakeConstSpan(value));
        } else if constexpr (std::is_same_v<T, LiteralPtr>) {
          AddType(f, value->type());
          f.AddBytes(value->bytes());
        } else if constexpr (std::is_same_v<T, GraphPtr>) {
          f.Add(FingerprintGraph(*value));
        } else {
          f.Add(value);
        }
      },
      attribute);
}

void AddNode(Fingerprinter& f, const Node& node) {
  f.Add(node.op->name);
  f.Add(node.operands.size());
  for (Value operand : node.operands) AddValue(f, operand);
  f.Add(node.attributes.entries().size());
  for (const auto& [name, attribute] : node.attributes.entries()) {
    f.Add(name);
    AddAttribute(f, attribute);
  }
  f.Add(node.results.size());
  for (const TensorType& type : node.results) AddType(f, type);
}

}  // namespace

Fingerprint128 FingerprintGraph(const Graph& graph) {
  Fingerprinter f;
  f.Add(graph.num_nodes());
  for (const Node& node : graph.nodes()) AddNode(f, node);
  f.Add(graph.outputs().size());
  for (Value output : graph.outputs()) AddValue(f, output);
  return f.Finish();
}

}  // namespace trencadis::ir
