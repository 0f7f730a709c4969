// Views: result element i is operand element f(i), f affine (or, for reshape, the row-major order).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using ir::Val;
using ir::VjpContext;
using Ints = std::vector<int64_t>;
using Index = absl::Span<const int64_t>;

absl::StatusOr<ir::TypeList> InferBroadcast(Operands operands, const Attributes& attributes) {
  const Ints& shape = attributes.Get<Ints>("shape");
  const Ints& axes = attributes.Get<Ints>("axes");
  const Ints& dims = operands[0].shape.dims();
  TRENCADIS_RETURN_IF_ERROR(RequireLength("axes", axes, operands[0].shape.rank()));
  TRENCADIS_RETURN_IF_ERROR(RequireIncreasingAxes("axes", axes, static_cast<int>(shape.size())));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (dims[i] == 1 || dims[i] == shape[axes[i]]) continue;
    return absl::InvalidArgumentError(absl::StrCat("dimension ", i, " of ", operands[0].ToString(),
                                                   " cannot become ", shape[axes[i]],
                                                   "; only a dimension of 1 is stretched"));
  }
  return ir::TypeList{{operands[0].dtype, Shape(shape)}};
}

absl::StatusOr<ir::TypeList> InferReshape(Operands operands, const Attributes& attributes) {
  const TensorType result = {operands[0].dtype, Shape(attributes.Get<Ints>("shape"))};
  TRENCADIS_RETURN_IF_ERROR(ir::CheckTensorType(result));
  if (result.shape.num_elements() != operands[0].shape.num_elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operands[0].ToString(), " has ", operands[0].shape.num_elements(), " elements; the shape ",
        result.shape.ToString(), " wants ", result.shape.num_elements()));
  }
  return ir::TypeList{result};
}

absl::StatusOr<ir::TypeList> InferTranspose(Operands operands, const Attributes& attributes) {
  const Ints& permutation = attributes.Get<Ints>("permutation");
  const int rank = operands[0].shape.rank();
  std::vector<bool> seen(rank, false);
  bool valid = permutation.size() == static_cast<size_t>(rank);
  for (int64_t axis : permutation) {
    valid = valid && axis >= 0 && axis < rank && !seen[axis];
    if (!valid) break;
    seen[axis] = true;
  }
  if (!valid) {
    return absl::InvalidArgumentError(absl::StrCat("permutation is [",
                                                   absl::StrJoin(permutation, ","),
                                                   "]; wanted each axis below ", rank, " once"));
  }
  Ints dims;
  for (int64_t axis : permutation) dims.push_back(operands[0].shape.dims()[axis]);
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferSlice(Operands operands, const Attributes& attributes) {
  const Ints& starts = attributes.Get<Ints>("starts");
  const Ints& limits = attributes.Get<Ints>("limits");
  const Ints& strides = attributes.Get<Ints>("strides");
  const int rank = operands[0].shape.rank();
  TRENCADIS_RETURN_IF_ERROR(RequireLength("starts", starts, rank));
  TRENCADIS_RETURN_IF_ERROR(RequireLength("limits", limits, rank));
  TRENCADIS_RETURN_IF_ERROR(RequireLength("strides", strides, rank));
  Ints dims;
  for (int i = 0; i < rank; ++i) {
    if (starts[i] < 0 || starts[i] > limits[i] || limits[i] > operands[0].shape.dim(i) ||
        strides[i] < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "slice ", starts[i], ":", limits[i], ":", strides[i], " of dimension ", i, " of ",
          operands[0].ToString(), "; wanted 0 <= start <= limit <= dimension and stride >= 1"));
    }
    const int64_t length = limits[i] - starts[i];
    dims.push_back(length / strides[i] + (length % strides[i] != 0));
  }
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferReverse(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(
      RequireIncreasingAxes("axes", attributes.Get<Ints>("axes"), operands[0].shape.rank()));
  return ir::TypeList{operands[0]};
}

// y[index] = x[source(index)]
template <typename Source>
absl::StatusOr<Literals> Gather(const Literal& x, const TensorType& type, Source source) {
  Literal y(type);
  Ints from(x.shape().rank());
  ForEachIndex(y.shape(), [&](Index index, int64_t flat) {
    source(index, from);
    CopyElement(x, FlatIndex(x.shape(), from), y, flat);
  });
  return Literals{std::move(y)};
}

absl::StatusOr<Literals> BroadcastReference(LiteralSpan x, const Attributes& attributes,
                                            const ir::TypeList& results) {
  const Ints& axes = attributes.Get<Ints>("axes");
  return Gather(x[0], results[0], [&](Index index, Ints& from) {
    for (size_t i = 0; i < from.size(); ++i) {
      from[i] = x[0].shape().dim(i) == 1 ? 0 : index[axes[i]];
    }
  });
}

absl::StatusOr<Literals> ReshapeReference(LiteralSpan x, const Attributes&,
                                          const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) CopyElement(x[0], i, y, i);
  return Literals{std::move(y)};
}

absl::StatusOr<Literals> TransposeReference(LiteralSpan x, const Attributes& attributes,
                                            const ir::TypeList& results) {
  const Ints& permutation = attributes.Get<Ints>("permutation");
  return Gather(x[0], results[0], [&](Index index, Ints& from) {
    for (size_t i = 0; i < from.size(); ++i) from[permutation[i]] = index[i];
  });
}

absl::StatusOr<Literals> SliceReference(LiteralSpan x, const Attributes& attributes,
                                        const ir::TypeList& results) {
  const Ints& starts = attributes.Get<Ints>("starts");
  const Ints& strides = attributes.Get<Ints>("strides");
  return Gather(x[0], results[0], [&](Index index, Ints& from) {
    for (size_t i = 0; i < from.size(); ++i) from[i] = starts[i] + index[i] * strides[i];
  });
}

absl::StatusOr<Literals> ReverseReference(LiteralSpan x, const Attributes& attributes,
                                          const ir::TypeList& results) {
  return Gather(x[0], results[0], [&](Index index, Ints& from) {
    from.assign(index.begin(), index.end());
    for (int64_t axis : attributes.Get<Ints>("axes")) {
      from[axis] = x[0].shape().dim(axis) - 1 - index[axis];
    }
  });
}

// Sums over the axes that the broadcast added or stretched.
absl::Status BroadcastVjp(VjpContext& c) {
  const VjpMath m(c);
  const Ints& shape = c.attributes().Get<Ints>("shape");
  const Ints& axes = c.attributes().Get<Ints>("axes");
  const Shape operand = c.builder().TypeOf(c.operand(0)).shape;
  Ints summed;
  size_t next = 0;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    const bool from_operand = next < axes.size() && axes[next] == axis;
    if (!from_operand || operand.dim(next) != shape[axis]) summed.push_back(axis);
    if (from_operand) ++next;
  }
  c.SetGradient(0, m.Reshape(m.ReduceSum(c.cotangent(0), summed), operand));
  return absl::OkStatus();
}

absl::Status ReshapeVjp(VjpContext& c) {
  c.SetGradient(0, VjpMath(c).Reshape(c.cotangent(0), c.builder().TypeOf(c.operand(0)).shape));
  return absl::OkStatus();
}

absl::Status TransposeVjp(VjpContext& c) {
  const Ints& permutation = c.attributes().Get<Ints>("permutation");
  Ints inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = i;
  c.SetGradient(
      0, c.builder().Emit1("transpose", {c.cotangent(0)}, {{"permutation", std::move(inverse)}}));
  return absl::OkStatus();
}

// [..., n, ...] -> [..., n * stride, ...]: zeros after each element of `axis`.
Val Spread(const VjpMath& m, Val x, Shape& shape, int axis, int64_t stride) {
  Ints split = shape.dims();
  split.insert(split.begin() + axis + 1, 1);
  Ints none(split.size(), 0);
  Ints gaps = none;
  gaps[axis + 1] = stride - 1;
  Ints merged = shape.dims();
  merged[axis] *= stride;
  shape = Shape(merged);
  return m.Reshape(m.Pad(m.Reshape(x, Shape(split)), none, gaps), shape);
}

// Zeros where nothing was taken.
absl::Status SliceVjp(VjpContext& c) {
  const VjpMath m(c);
  const Ints& starts = c.attributes().Get<Ints>("starts");
  const Ints& strides = c.attributes().Get<Ints>("strides");
  const Shape operand = c.builder().TypeOf(c.operand(0)).shape;
  Val gradient = c.cotangent(0);
  Shape shape = c.builder().TypeOf(gradient).shape;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (strides[axis] > 1) gradient = Spread(m, gradient, shape, axis, strides[axis]);
  }
  Ints zeros(operand.rank(), 0), limits(operand.rank()), ones(operand.rank(), 1);
  Ints high(operand.rank());
  bool trimmed = false;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    // What Spread put after the last element may reach beyond the operand.
    limits[axis] = std::min(shape.dim(axis), operand.dim(axis) - starts[axis]);
    high[axis] = operand.dim(axis) - starts[axis] - limits[axis];
    trimmed = trimmed || limits[axis] < shape.dim(axis);
  }
  if (trimmed) {
    gradient = c.builder().Emit1("slice", {gradient},
                                 {{"starts", zeros}, {"limits", limits}, {"strides", ones}});
  }
  c.SetGradient(0, m.Pad(gradient, starts, high));
  return absl::OkStatus();
}

absl::Status ReverseVjp(VjpContext& c) {
  c.SetGradient(0, c.builder().Emit1("reverse", {c.cotangent(0)}, c.attributes()));
  return absl::OkStatus();
}

constexpr ir::AttributeDef kBroadcastAttributes[] = {{"shape", AttributeKind::kInts},
                                                     {"axes", AttributeKind::kInts}};
constexpr ir::AttributeDef kReshapeAttributes[] = {{"shape", AttributeKind::kInts}};
constexpr ir::AttributeDef kTransposeAttributes[] = {{"permutation", AttributeKind::kInts}};
constexpr ir::AttributeDef kSliceAttributes[] = {{"starts", AttributeKind::kInts},
                                                 {"limits", AttributeKind::kInts},
                                                 {"strides", AttributeKind::kInts}};
constexpr ir::AttributeDef kReverseAttributes[] = {{"axes", AttributeKind::kInts}};

constexpr ir::OpTraits kView = {.op_class = ir::OpClass::kView, .cheap_to_recompute = true};

constexpr ir::OpDef kOps[] = {
    {.name = "broadcast",
     .num_operands = 1,
     .attributes = kBroadcastAttributes,
     .traits = kView,
     .infer = InferBroadcast,
     .reference = BroadcastReference,
     .vjp = BroadcastVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "reshape",
     .num_operands = 1,
     .attributes = kReshapeAttributes,
     .traits = kView,
     .infer = InferReshape,
     .reference = ReshapeReference,
     .vjp = ReshapeVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "transpose",
     .num_operands = 1,
     .attributes = kTransposeAttributes,
     .traits = kView,
     .infer = InferTranspose,
     .reference = TransposeReference,
     .vjp = TransposeVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "slice",
     .num_operands = 1,
     .attributes = kSliceAttributes,
     .traits = kView,
     .infer = InferSlice,
     .reference = SliceReference,
     .vjp = SliceVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "reverse",
     .num_operands = 1,
     .attributes = kReverseAttributes,
     .traits = kView,
     .infer = InferReverse,
     .reference = ReverseReference,
     .vjp = ReverseVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable ViewOps() { return kOps; }

}  // namespace trencadis::ops
