// Ops that lay tensors side by side or around one another at places known in advance.
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

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

absl::StatusOr<Literals> ConcatenateReference(LiteralSpan x, const Attributes& attributes,
                                              const ir::TypeList& results) {
  const int64_t axis = attributes.Get<int64_t>("axis");
  Literal y(results[0]);
  int64_t offset = 0;
  for (const Literal& piece : x) {
    ForEachIndex(piece.shape(), [&](absl::Span<const int64_t> index, int64_t flat) {
      Ints at(index.begin(), index.end());
      at[axis] += offset;
      CopyElement(piece, flat, y, FlatIndex(y.shape(), at));
    });
    offset += piece.shape().dim(axis);
  }
  return Literals{std::move(y)};
}

absl::StatusOr<Literals> PadReference(LiteralSpan x, const Attributes& attributes,
                                      const ir::TypeList& results) {
  const Ints& low = attributes.Get<Ints>("low");
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) y.SetDouble(i, attributes.Get<double>("value"));
  ForEachIndex(x[0].shape(), [&](absl::Span<const int64_t> index, int64_t flat) {
    Ints at(index.begin(), index.end());
    for (size_t axis = 0; axis < at.size(); ++axis) at[axis] += low[axis];
    CopyElement(x[0], flat, y, FlatIndex(y.shape(), at));
  });
  return Literals{std::move(y)};
}

ir::Val Slice(ir::VjpContext& c, ir::Val x, Ints starts, Ints limits) {
  Ints strides(starts.size(), 1);
  return c.builder().Emit1("slice", {x},
                           {{"starts", std::move(starts)},
                            {"limits", std::move(limits)},
                            {"strides", std::move(strides)}});
}

absl::Status ConcatenateVjp(ir::VjpContext& c) {
  const int64_t axis = c.attributes().Get<int64_t>("axis");
  int64_t offset = 0;
  for (int i = 0; i < c.num_operands(); ++i) {
    Ints limits = c.builder().TypeOf(c.operand(i)).shape.dims();
    Ints starts(limits.size(), 0);
    starts[axis] = offset;
    limits[axis] = offset = offset + limits[axis];
    if (c.NeedsGradient(i)) c.SetGradient(i, Slice(c, c.cotangent(0), starts, limits));
  }
  return absl::OkStatus();
}

absl::Status PadVjp(ir::VjpContext& c) {
  const Ints& low = c.attributes().Get<Ints>("low");
  Ints limits = c.builder().TypeOf(c.operand(0)).shape.dims();
  for (size_t axis = 0; axis < limits.size(); ++axis) limits[axis] += low[axis];
  c.SetGradient(0, Slice(c, c.cotangent(0), low, limits));
  return absl::OkStatus();
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
     .infer = InferConcatenate,
     .reference = ConcatenateReference,
     .vjp = ConcatenateVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "pad",
     .num_operands = 1,
     .attributes = kPadAttributes,
     .traits = kIndexing,
     .infer = InferPad,
     .reference = PadReference,
     .vjp = PadVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable ShapingOps() { return kOps; }

}  // namespace trencadis::ops
