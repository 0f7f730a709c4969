// Ops whose data decide which elements they touch. An index out of range is a runtime error.
//
// V rows of a table, D... the dimensions of one row.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
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

absl::Status RequireIds(Operands operands, int index) {
  const DType dtype = operands[index].dtype;
  if (dtype == DType::kI32 || dtype == DType::kI64) return absl::OkStatus();
  return OperandError(operands, index, "i32 or i64 indices");
}

absl::StatusOr<ir::TypeList> InferTake(Operands operands, const Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireIds(operands, 1));
  if (operands[0].shape.rank() == 0) return OperandError(operands, 0, "at least rank 1");
  std::vector<int64_t> dims = operands[1].shape.dims();
  const auto& table = operands[0].shape.dims();
  dims.insert(dims.end(), table.begin() + 1, table.end());
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferScatterAdd(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireIds(operands, 0));
  TRENCADIS_RETURN_IF_ERROR(RequireFloat(operands, 1));
  const auto& ids = operands[0].shape.dims();
  const auto& updates = operands[1].shape.dims();
  if (updates.size() < ids.size() || !std::equal(ids.begin(), ids.end(), updates.begin())) {
    return OperandError(
        operands, 1,
        absl::StrCat("a shape that starts with the ids', ", operands[0].shape.ToString()));
  }
  const DType dtype = attributes.GetOr<DType>("dtype", DType::kF32);
  if (!IsFloat(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), "; wanted f32 or bf16"));
  }
  std::vector<int64_t> dims = {attributes.Get<int64_t>("rows")};
  dims.insert(dims.end(), updates.begin() + ids.size(), updates.end());
  return ir::TypeList{{dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferArgmax(Operands operands, const Attributes& attributes) {
  if (operands[0].dtype == DType::kBool) return OperandError(operands, 0, "a type of numbers");
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  std::vector<int64_t> dims = operands[0].shape.dims();
  if (dims[axis] == 0 || dims[axis] > std::numeric_limits<int32_t>::max()) {
    return OperandError(operands, 0, absl::StrCat("1 to 2^31 - 1 elements along axis ", axis));
  }
  dims.erase(dims.begin() + axis);
  return ir::TypeList{{DType::kI32, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferDynamicSlice(Operands operands, const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 1, {DType::kI32, Shape{}}));
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  const int64_t size = attributes.Get<int64_t>("size");
  std::vector<int64_t> dims = operands[0].shape.dims();
  if (size < 0 || size > dims[axis]) {
    return absl::InvalidArgumentError(absl::StrCat("size is ", size, "; wanted 0 to ", dims[axis],
                                                   ", dimension ", axis, " of ",
                                                   operands[0].ToString()));
  }
  dims[axis] = size;
  return ir::TypeList{{operands[0].dtype, Shape(std::move(dims))}};
}

absl::StatusOr<ir::TypeList> InferDynamicUpdateSlice(Operands operands,
                                                     const Attributes& attributes) {
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 2, {DType::kI32, Shape{}}));
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(RequireAxis(axis, operands[0].shape.rank()));
  TRENCADIS_RETURN_IF_ERROR(RequireRank(operands, 1, operands[0].shape.rank()));
  std::vector<int64_t> dims = operands[0].shape.dims();
  dims[axis] = std::min(dims[axis], operands[1].shape.dims()[axis]);
  TRENCADIS_RETURN_IF_ERROR(RequireType(operands, 1, {operands[0].dtype, Shape(dims)}));
  return ir::TypeList{operands[0]};
}

absl::Status OutOfRange(absl::string_view what, int64_t index, int64_t limit) {
  return absl::OutOfRangeError(absl::StrCat(what, " is ", index, "; wanted 0 to ", limit));
}

// Elements of one row of a table.
int64_t RowSize(const Shape& table) {
  int64_t size = 1;
  for (int axis = 1; axis < table.rank(); ++axis) size *= table.dim(axis);
  return size;
}

absl::StatusOr<Literals> TakeReference(LiteralSpan x, const Attributes&,
                                       const ir::TypeList& results) {
  const int64_t rows = x[0].shape().dim(0);
  const int64_t width = RowSize(x[0].shape());
  Literal y(results[0]);
  for (int64_t i = 0; i < x[1].num_elements(); ++i) {
    const int64_t id = IntAt(x[1], i);
    if (id < 0 || id >= rows) return OutOfRange("take: an index", id, rows - 1);
    for (int64_t d = 0; d < width; ++d) CopyElement(x[0], id * width + d, y, i * width + d);
  }
  return Literals{std::move(y)};
}

// Adds in f32, in the order of the ids: the definition of the result's bits.
absl::StatusOr<Literals> ScatterAddReference(LiteralSpan x, const Attributes&,
                                             const ir::TypeList& results) {
  const int64_t rows = results[0].shape.dim(0);
  const int64_t width = RowSize(results[0].shape);
  std::vector<float> sums(results[0].shape.num_elements(), 0.0f);
  for (int64_t i = 0; i < x[0].num_elements(); ++i) {
    const int64_t id = IntAt(x[0], i);
    if (id < 0 || id >= rows) return OutOfRange("scatter_add: an index", id, rows - 1);
    for (int64_t d = 0; d < width; ++d) {
      sums[id * width + d] += static_cast<float>(x[1].AsDouble(i * width + d));
    }
  }
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) y.SetDouble(i, sums[i]);
  return Literals{std::move(y)};
}

// Is `a` a later maximum than `b`? NaN is the greatest, as torch.argmax has it.
bool Exceeds(const Literal& x, int64_t a, int64_t b) {
  if (!IsFloat(x.dtype())) return IntAt(x, a) > IntAt(x, b);
  const double value = x.AsDouble(a);
  const double best = x.AsDouble(b);
  return value > best || (std::isnan(value) && !std::isnan(best));
}

absl::StatusOr<Literals> ArgmaxReference(LiteralSpan x, const Attributes& attributes,
                                         const ir::TypeList& results) {
  const int64_t axis = attributes.Get<int64_t>("axis");
  const int64_t stride = x[0].shape().Strides()[axis];
  Literal y(results[0]);
  ForEachIndex(y.shape(), [&](absl::Span<const int64_t> index, int64_t flat) {
    std::vector<int64_t> from(index.begin(), index.end());
    from.insert(from.begin() + axis, 0);
    const int64_t first = FlatIndex(x[0].shape(), from);
    int64_t best = 0;
    for (int64_t i = 1; i < x[0].shape().dim(axis); ++i) {
      if (Exceeds(x[0], first + i * stride, first + best * stride)) best = i;
    }
    y.data<int32_t>()[flat] = static_cast<int32_t>(best);
  });
  return Literals{std::move(y)};
}

absl::Status CheckStart(const Literal& start, int64_t last) {
  const int64_t value = IntAt(start, 0);
  if (value >= 0 && value <= last) return absl::OkStatus();
  return OutOfRange("dynamic slice: the start", value, last);
}

// Calls fn(position in the small tensor, position in the large one) for a slice along `axis`.
template <typename Fn>
void ForEachInSlice(const Shape& small, const Shape& large, int64_t axis, int64_t start, Fn fn) {
  ForEachIndex(small, [&](absl::Span<const int64_t> index, int64_t flat) {
    std::vector<int64_t> at(index.begin(), index.end());
    at[axis] += start;
    fn(flat, FlatIndex(large, at));
  });
}

absl::StatusOr<Literals> DynamicSliceReference(LiteralSpan x, const Attributes& attributes,
                                               const ir::TypeList& results) {
  const int64_t axis = attributes.Get<int64_t>("axis");
  Literal y(results[0]);
  TRENCADIS_RETURN_IF_ERROR(CheckStart(x[1], x[0].shape().dim(axis) - y.shape().dim(axis)));
  ForEachInSlice(y.shape(), x[0].shape(), axis, IntAt(x[1], 0),
                 [&](int64_t small, int64_t large) { CopyElement(x[0], large, y, small); });
  return Literals{std::move(y)};
}

absl::StatusOr<Literals> DynamicUpdateSliceReference(LiteralSpan x, const Attributes& attributes,
                                                     const ir::TypeList&) {
  const int64_t axis = attributes.Get<int64_t>("axis");
  TRENCADIS_RETURN_IF_ERROR(CheckStart(x[2], x[0].shape().dim(axis) - x[1].shape().dim(axis)));
  Literal y = x[0];
  ForEachInSlice(x[1].shape(), y.shape(), axis, IntAt(x[2], 0),
                 [&](int64_t small, int64_t large) { CopyElement(x[1], small, y, large); });
  return Literals{std::move(y)};
}

absl::Status TakeVjp(VjpContext& c) {
  const TensorType table = c.builder().TypeOf(c.operand(0));
  c.SetGradient(0, c.builder().Emit1("scatter_add", {c.operand(1), c.cotangent(0)},
                                     {{"rows", table.shape.dim(0)}, {"dtype", table.dtype}}));
  return absl::OkStatus();
}

absl::Status ScatterAddVjp(VjpContext& c) {
  const Val rows = c.builder().Emit1("take", {c.cotangent(0), c.operand(0)});
  c.SetGradient(1, VjpMath(c).Convert(rows, c.builder().TypeOf(c.operand(1)).dtype));
  return absl::OkStatus();
}

absl::Status DynamicSliceVjp(VjpContext& c) {
  const Val zeros = VjpMath(c).Full(c.builder().TypeOf(c.operand(0)), 0);
  c.SetGradient(0, c.builder().Emit1("dynamic_update_slice", {zeros, c.cotangent(0), c.operand(1)},
                                     {{"axis", c.attributes().Get<int64_t>("axis")}}));
  return absl::OkStatus();
}

absl::Status DynamicUpdateSliceVjp(VjpContext& c) {
  const Val dy = c.cotangent(0);
  const Val start = c.operand(2);
  const TensorType update = c.builder().TypeOf(c.operand(1));
  const int64_t axis = c.attributes().Get<int64_t>("axis");
  if (c.NeedsGradient(0)) {
    c.SetGradient(0, c.builder().Emit1("dynamic_update_slice",
                                       {dy, VjpMath(c).Full(update, 0), start}, {{"axis", axis}}));
  }
  if (c.NeedsGradient(1)) {
    c.SetGradient(1, c.builder().Emit1("dynamic_slice", {dy, start},
                                       {{"axis", axis}, {"size", update.shape.dim(axis)}}));
  }
  return absl::OkStatus();
}

constexpr ir::AttributeDef kScatterAttributes[] = {{"rows", AttributeKind::kInt},
                                                   {"dtype", AttributeKind::kDType, false}};
constexpr ir::AttributeDef kAxisAttributes[] = {{"axis", AttributeKind::kInt}};
constexpr ir::AttributeDef kDynamicSliceAttributes[] = {{"axis", AttributeKind::kInt},
                                                        {"size", AttributeKind::kInt}};

constexpr ir::OpTraits kIndexing = {.op_class = ir::OpClass::kIndexing};

constexpr ir::OpDef kOps[] = {
    {.name = "take",
     .num_operands = 2,
     .traits = kIndexing,
     .infer = InferTake,
     .reference = TakeReference,
     .vjp = TakeVjp,
     .vjp_reads_operands = 0b10,
     .vjp_reads_results = 0},
    {.name = "scatter_add",
     .num_operands = 2,
     .attributes = kScatterAttributes,
     .traits = kIndexing,
     .infer = InferScatterAdd,
     .reference = ScatterAddReference,
     .vjp = ScatterAddVjp,
     .vjp_reads_operands = 0b01,
     .vjp_reads_results = 0},
    {.name = "argmax",
     .num_operands = 1,
     .attributes = kAxisAttributes,
     .traits = kIndexing,
     .infer = InferArgmax,
     .reference = ArgmaxReference,
     .stops_gradient = true},
    {.name = "dynamic_slice",
     .num_operands = 2,
     .attributes = kDynamicSliceAttributes,
     .traits = kIndexing,
     .infer = InferDynamicSlice,
     .reference = DynamicSliceReference,
     .vjp = DynamicSliceVjp,
     .vjp_reads_operands = 0b10,
     .vjp_reads_results = 0},
    {.name = "dynamic_update_slice",
     .num_operands = 3,
     .attributes = kAxisAttributes,
     .traits = {.op_class = ir::OpClass::kIndexing, .updates_operand = true},
     .infer = InferDynamicUpdateSlice,
     .reference = DynamicUpdateSliceReference,
     .vjp = DynamicUpdateSliceVjp,
     .vjp_reads_operands = 0b100,
     .vjp_reads_results = 0},
};

}  // namespace

OpTable IndexingOps() { return kOps; }

}  // namespace trencadis::ops
