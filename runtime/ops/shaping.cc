// Ops that lay tensors side by side or around one another at places known in advance.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using Ints = std::vector<int64_t>;

absl::StatusOr<ir::TypeList> InferConcatenate(Operands operands, const Attributes& attributes) {
  if (operands.empty()) return absl::InvalidArgumentError("got no operand; wanted at least one");
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  Ints dims = operands[0].shape.dims();
  for (size_t i = 1; i < operands.size(); ++i) {
    TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, i, operands[0].shape.rank()));
    Ints wanted = operands[0].shape.dims();
    wanted[axis] = operands[i].shape.dims()[axis];
    TRENCADIS_RETURN_IF_ERROR(RequireType(operands, i, {operands[0].dtype, Shape(wanted)}));
    // Checked at each step, so that the sum cannot overflow.
    dims[axis] += wanted[axis];
    TRENCADIS_RETURN_IF_ERROR(ir::CheckTensorType({operands[0].dtype, Shape(dims)}));
  }
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferPad(Operands operands, const Attributes& attributes) {
  const Ints& low = attributes.Get<Ints>("low");
  const Ints& high = attributes.Get<Ints>("high");
  TRENCADIS_RETURN_IF_ERROR(RequireLength("low", low, operands[0].shape.rank()));
  TRENCADIS_RETURN_IF_ERROR(RequireLength("high", high, operands[0].shape.rank()));
  Ints dims = operands[0].shape.dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto valid = [](int64_t padding) { return padding >= 0 && padding <= ir::kMaxElements; };
    if (!valid(low[i]) || !valid(high[i])) {
      return absl::InvalidArgumentError(absl::StrCat("padding of dimension ", i, " is ", low[i],
                                                     " and ", high[i], "; wanted 0 to 2^48"));
    }
    dims[i] += low[i] + high[i];
  }
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

constexpr ir::AttributeDef kConcatenateAttributes[] = {{"axis", AttributeKind::kInt}};
constexpr ir::AttributeDef kPadAttributes[] = {{"low", AttributeKind::kInts},
                                               {"high", AttributeKind::kInts},
                                               {"value", AttributeKind::kDouble}};

constexpr ir::OpTraits kIndexing = {.op_class = ir::OpClass::kIndexing};

constexpr ir::OpDef kOps[] = {
    {.name = "concatenate",
     .num_operands = -1,
     .attributes = kConcatenateAttributes,
     .traits = kIndexing,
     .infer = InferConcatenate},
    {.name = "pad",
     .num_operands = 1,
     .attributes = kPadAttributes,
     .traits = kIndexing,
     .infer = InferPad},
};

}  // namespace

OpTable ShapingOps() { return kOps; }

}  // namespace trencadis::ops
