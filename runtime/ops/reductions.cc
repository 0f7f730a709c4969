// Reductions over some axes. Nothing to reduce gives 0 for a sum, and for a maximum or minimum the
// type's lowest or highest value (an infinity for floats).
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using ir::BinaryFn;
using Ints = std::vector<int64_t>;

absl::StatusOr<ir::TypeList> InferReduction(Operands operands, const Attributes& attributes) {
  if (operands[0].dtype == DType::kBool) return OperandError(operands, 0, "a type of numbers");
  const Ints& axes = attributes.Get<Ints>("axes");
  TRENCADIS_RETURN_IF_ERROR(RequireIncreasingAxes("axes", axes, operands[0].shape.rank()));
  const bool keep_dims = attributes.GetOr<bool>("keep_dims", false);
  Ints dims;
  size_t next = 0;
  for (int axis = 0; axis < operands[0].shape.rank(); ++axis) {
    if (next == axes.size() || axes[next] != axis) {
      dims.push_back(operands[0].shape.dim(axis));
      continue;
    }
    ++next;
    if (keep_dims) dims.push_back(1);
  }
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

constexpr ir::AttributeDef kAttributes[] = {{"axes", AttributeKind::kInts},
                                            {"keep_dims", AttributeKind::kBool, false}};

constexpr ir::OpTraits Reduces(BinaryFn fn) {
  return {.op_class = ir::OpClass::kReduction, .reduce = fn};
}

constexpr ir::OpDef kOps[] = {
    {.name = "reduce_sum",
     .num_operands = 1,
     .attributes = kAttributes,
     .traits = Reduces(BinaryFn::kAdd),
     .infer = InferReduction},
    {.name = "reduce_max",
     .num_operands = 1,
     .attributes = kAttributes,
     .traits = Reduces(BinaryFn::kMax),
     .infer = InferReduction},
    {.name = "reduce_min",
     .num_operands = 1,
     .attributes = kAttributes,
     .traits = Reduces(BinaryFn::kMin),
     .infer = InferReduction},
};

}  // namespace

OpTable ReductionOps() { return kOps; }

}  // namespace trencadis::ops
