// Reductions over some axes. Nothing to reduce gives 0 for a sum, and for a maximum or minimum the
// type's lowest or highest value (an infinity for floats).
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/base/status.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {
namespace {

using ir::AttributeKind;
using ir::Attributes;
using ir::BinaryFn;
using ir::Val;
using ir::VjpContext;
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

double Add(double x, double y) { return x + y; }
double Max(double x, double y) { return std::isnan(x) || x > y ? x : y; }
double Min(double x, double y) { return std::isnan(x) || x < y ? x : y; }
int64_t AddInt(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
int64_t MaxInt(int64_t x, int64_t y) { return x > y ? x : y; }
int64_t MinInt(int64_t x, int64_t y) { return x < y ? x : y; }

template <typename T>
T NoSum(DType) {
  return 0;
}

// The value that a maximum (kHighest false) or a minimum starts from.
template <bool kHighest>
double FloatLimit(DType) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return kHighest ? kInfinity : -kInfinity;
}
template <bool kHighest>
int64_t IntLimit(DType dtype) {
  const auto limit = [](auto zero) -> int64_t {
    using Limits = std::numeric_limits<decltype(zero)>;
    return kHighest ? Limits::max() : Limits::min();
  };
  if (dtype == DType::kI64) return limit(int64_t{0});
  return dtype == DType::kI32 ? limit(int32_t{0}) : limit(uint8_t{0});
}

// Where the folded elements go: position in `result`, which has no or one-wide reduced axes.
int64_t TargetOf(absl::Span<const int64_t> index, const Ints& axes, const Shape& kept) {
  Ints target(index.begin(), index.end());
  for (int64_t axis : axes) target[axis] = 0;
  return FlatIndex(kept, target);
}

template <typename T, T (*kFn)(T, T), T (*kStart)(DType)>
Literal Fold(const Literal& x, const Ints& axes, const TensorType& type) {
  Ints kept_dims = x.shape().dims();
  for (int64_t axis : axes) kept_dims[axis] = 1;
  const Shape kept(kept_dims);
  std::vector<T> folded(type.shape.num_elements(), kStart(type.dtype));
  ForEachIndex(x.shape(), [&](absl::Span<const int64_t> index, int64_t flat) {
    T& value = folded[TargetOf(index, axes, kept)];
    if constexpr (std::is_same_v<T, double>) {
      value = kFn(x.AsDouble(flat), value);
    } else {
      value = kFn(IntAt(x, flat), value);
    }
  });
  Literal y(type);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    if constexpr (std::is_same_v<T, double>) {
      y.SetDouble(i, folded[i]);
    } else {
      SetInt(y, i, folded[i]);
    }
  }
  return y;
}

template <double (*kFloat)(double, double), double (*kFloatStart)(DType),
          int64_t (*kInt)(int64_t, int64_t), int64_t (*kIntStart)(DType)>
absl::StatusOr<Literals> FoldReference(LiteralSpan x, const Attributes& attributes,
                                       const ir::TypeList& results) {
  const Ints& axes = attributes.Get<Ints>("axes");
  const auto fold =
      IsFloat(x[0].dtype()) ? Fold<double, kFloat, kFloatStart> : Fold<int64_t, kInt, kIntStart>;
  return Literals{fold(x[0], axes, results[0])};
}

constexpr auto kSumReference = FoldReference<Add, NoSum<double>, AddInt, NoSum<int64_t>>;
constexpr auto kMaxReference = FoldReference<Max, FloatLimit<false>, MaxInt, IntLimit<false>>;
constexpr auto kMinReference = FoldReference<Min, FloatLimit<true>, MinInt, IntLimit<true>>;

// `y`, of the result's type, once for each element that was folded into it.
Val Unfold(VjpContext& c, Val y) {
  const Shape shape = c.builder().TypeOf(c.operand(0)).shape;
  const Ints& axes = c.attributes().Get<Ints>("axes");
  const bool keep_dims = c.attributes().GetOr<bool>("keep_dims", false);
  Ints kept;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (keep_dims || std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(axis);
  }
  return VjpMath(c).Broadcast(y, shape, std::move(kept));
}

absl::Status SumVjp(VjpContext& c) {
  c.SetGradient(0, Unfold(c, c.cotangent(0)));
  return absl::OkStatus();
}

// In equal parts to all elements that are the extremum, as torch.amax does.
absl::Status ExtremumVjp(VjpContext& c) {
  const VjpMath m(c);
  const Val dy = c.cotangent(0);
  const Val chosen = m.Compare("eq", c.operand(0), Unfold(c, c.result(0)));
  const Val mask = m.Convert(chosen, DType::kF32);
  const Val count = c.builder().Emit1("reduce_sum", {mask}, c.attributes());
  const Val share = m.Div(m.Convert(dy, DType::kF32), count);
  c.SetGradient(0, m.Convert(m.Mul(mask, Unfold(c, share)), c.builder().TypeOf(dy).dtype));
  return absl::OkStatus();
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
     .infer = InferReduction,
     .reference = kSumReference,
     .vjp = SumVjp,
     .vjp_reads_operands = 0,
     .vjp_reads_results = 0},
    {.name = "reduce_max",
     .num_operands = 1,
     .attributes = kAttributes,
     .traits = Reduces(BinaryFn::kMax),
     .infer = InferReduction,
     .reference = kMaxReference,
     .vjp = ExtremumVjp},
    {.name = "reduce_min",
     .num_operands = 1,
     .attributes = kAttributes,
     .traits = Reduces(BinaryFn::kMin),
     .infer = InferReduction,
     .reference = kMinReference,
     .vjp = ExtremumVjp},
};

}  // namespace

OpTable ReductionOps() { return kOps; }

}  // namespace trencadis::ops
