#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/ir/number_text.h"
#include "runtime/ir/text.h"

namespace trencadis::ir {
namespace {

class Printer {
 public:
  void Print(const Graph& graph, int indent) {
    absl::StrAppend(&out_, "graph {\n");
    const std::string margin(indent + 2, ' ');
    for (int32_t id = 0; id < graph.num_nodes(); ++id) {
      absl::StrAppend(&out_, margin, "%", id, " = ");
      PrintNode(graph, graph.node(id), indent + 2);
      absl::StrAppend(&out_, "\n");
    }
    const auto& outputs = graph.outputs();
    absl::StrAppend(&out_, margin, "return", outputs.empty() ? "" : " ", Join(graph, outputs), "\n",
                    std::string(indent, ' '), "}");
  }

  std::string Take() { return std::move(out_); }

 private:
  static std::string Join(const Graph& graph, const std::vector<Value>& values) {
    return absl::StrJoin(values, ", ", [&](std::string* out, Value value) {
      absl::StrAppend(out, "%", value.node);
      if (graph.node(value.node).results.size() != 1) absl::StrAppend(out, ".", value.output);
    });
  }

  void PrintNode(const Graph& graph, const Node& node, int indent) {
    absl::StrAppend(&out_, node.op->name, "(", Join(graph, node.operands), ")");
    const auto& entries = node.attributes.entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      absl::StrAppend(&out_, i == 0 ? "{" : ", ", entries[i].first, "=");
      PrintAttribute(entries[i].second, indent);
    }
    absl::StrAppend(&out_, entries.empty() ? " : " : "} : ");
    const bool single = node.results.size() == 1;
    absl::StrAppend(&out_, single ? "" : "(",
                    absl::StrJoin(node.results, ", ",
                                  [](std::string* out, const TensorType& type) {
                                    absl::StrAppend(out, type.ToString());
                                  }),
                    single ? "" : ")");
    if (!node.label.empty()) absl::StrAppend(&out_, " @\"", absl::CEscape(node.label), "\"");
  }

  void PrintAttribute(const Attribute& attribute, int indent) {
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, bool>) {
            absl::StrAppend(&out_, value ? "true" : "false");
          } else if constexpr (std::is_same_v<T, int64_t>) {
            absl::StrAppend(&out_, value);
          } else if constexpr (std::is_same_v<T, double>) {
            absl::StrAppend(&out_, DoubleToText(value));
          } else if constexpr (std::is_same_v<T, std::string>) {
            absl::StrAppend(&out_, "\"", absl::CEscape(value), "\"");
          } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
            absl::StrAppend(&out_, "[", absl::StrJoin(value, ", "), "]");
          } else if constexpr (std::is_same_v<T, DType>) {
            absl::StrAppend(&out_, DTypeName(value));
          } else if constexpr (std::is_same_v<T, LiteralPtr>) {
            PrintLiteral(*value);
          } else {
            static_assert(std::is_same_v<T, GraphPtr>);
            Print(*value, indent);
          }
        },
        attribute);
  }

  static bool IsSplat(const Literal& literal) {
    const int64_t size = ByteSize(literal.dtype());
    const auto bytes = literal.bytes();
    for (size_t at = size; at < bytes.size(); at += size) {
      if (std::memcmp(bytes.data(), bytes.data() + at, size) != 0) return false;
    }
    return literal.num_elements() > 1;
  }

  void PrintLiteral(const Literal& literal) {
    absl::StrAppend(&out_, literal.type().ToString(), " {");
    if (IsSplat(literal)) {
      absl::StrAppend(&out_, "splat ", ElementToText(literal, 0), "}");
      return;
    }
    for (int64_t i = 0; i < literal.num_elements(); ++i) {
      absl::StrAppend(&out_, i == 0 ? "" : ", ", ElementToText(literal, i));
    }
    absl::StrAppend(&out_, "}");
  }

  std::string out_;
};

}  // namespace

std::string GraphToText(const Graph& graph) {
  Printer printer;
  printer.Print(graph, 0);
  return printer.Take() + "\n";
}

}  // namespace trencadis::ir
