#include "runtime/ir/op_def.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace trencadis::ir {
namespace {

constexpr absl::string_view kKindNames[] = {
    "a bool", "an integer", "a double", "a string", "integers", "a dtype", "a literal", "a graph",
};
static_assert(std::size(kKindNames) == std::variant_size_v<Attribute>);

bool IsNull(const Attribute& attribute) {
  const auto* literal = std::get_if<LiteralPtr>(&attribute);
  const auto* graph = std::get_if<GraphPtr>(&attribute);
  return (literal != nullptr && *literal == nullptr) || (graph != nullptr && *graph == nullptr);
}

absl::Status CheckAttributes(absl::Span<const AttributeDef> defs, const Attributes& attributes) {
  for (const AttributeDef& def : defs) {
    const Attribute* attribute = attributes.Find(def.name);
    const absl::string_view wanted = kKindNames[static_cast<size_t>(def.kind)];
    if (attribute == nullptr) {
      if (!def.required) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", def.name, "' is missing; wanted ", wanted));
    }
    if (attribute->index() != static_cast<size_t>(def.kind) || IsNull(*attribute)) {
      const absl::string_view got =
          IsNull(*attribute) ? "a null pointer" : kKindNames[attribute->index()];
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", def.name, "' is ", got, "; wanted ", wanted));
    }
  }
  for (const auto& [name, value] : attributes.entries()) {
    const auto known = [&name = name](const AttributeDef& def) { return def.name == name; };
    if (std::any_of(defs.begin(), defs.end(), known)) continue;
    const std::string names = absl::StrJoin(
        defs, ", ",
        [](std::string* out, const AttributeDef& def) { absl::StrAppend(out, def.name); });
    return absl::InvalidArgumentError(absl::StrCat("unknown attribute '", name, "'; this op has ",
                                                   names.empty() ? "none" : names));
  }
  return absl::OkStatus();
}

absl::StatusOr<TypeList> Infer(const OpDef& op, absl::Span<const TensorType> operands,
                               const Attributes& attributes) {
  if (op.num_operands >= 0 && operands.size() != static_cast<size_t>(op.num_operands)) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", operands.size(), " operands; wanted ", op.num_operands));
  }
  TRENCADIS_RETURN_IF_ERROR(CheckAttributes(op.attributes, attributes));
  TRENCADIS_ASSIGN_OR_RETURN(TypeList results, op.infer(operands, attributes));
  for (const TensorType& type : results) TRENCADIS_RETURN_IF_ERROR(CheckTensorType(type));
  return results;
}

}  // namespace

absl::Status CheckTensorType(const TensorType& type) {
  const auto& dims = type.shape.dims();
  if (dims.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat(type.ToString(), " has rank ", dims.size(), "; at most ", kMaxRank));
  }
  // Zeros count as ones: the strides of an empty tensor must not overflow either.
  int64_t elements = 1;
  for (int64_t dim : dims) {
    if (dim < 0) {
      return absl::InvalidArgumentError(absl::StrCat(type.ToString(), " has a negative dimension"));
    }
    if (dim > kMaxElements / elements) {
      return absl::InvalidArgumentError(
          absl::StrCat(type.ToString(), " is too large; at most 2^48 elements"));
    }
    elements *= std::max<int64_t>(dim, 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<TypeList> InferTypes(const OpDef& op, absl::Span<const TensorType> operands,
                                    const Attributes& attributes) {
  absl::StatusOr<TypeList> results = Infer(op, operands, attributes);
  if (!results.ok()) return Annotate(results.status(), op.name);
  return results;
}

}  // namespace trencadis::ir
