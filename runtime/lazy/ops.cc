#include "runtime/lazy/ops.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ops/registry.h"

namespace trencadis::lazy {
namespace {

using ir::Attributes;

std::vector<int64_t> NormalizedAxes(const Tensor& x, std::vector<int64_t> axes) {
  for (int64_t& axis : axes) axis = axis < 0 ? axis + x.rank() : axis;
  std::sort(axes.begin(), axes.end());
  return axes;
}

int64_t NormalizedAxis(const Tensor& x, int axis) { return axis < 0 ? axis + x.rank() : axis; }

// The shape that numpy broadcasts both to. Where they do not fit, x's dimension: the op's own check
// then reports the two types.
Shape BroadcastShape(const Shape& x, const Shape& y) {
  const int rank = std::max(x.rank(), y.rank());
  std::vector<int64_t> dims(rank);
  for (int i = 1; i <= rank; ++i) {
    const int64_t a = i <= x.rank() ? x.dim(-i) : 1;
    const int64_t b = i <= y.rank() ? y.dim(-i) : 1;
    dims[rank - i] = a == 1 ? b : a;
  }
  return Shape(std::move(dims));
}

Tensor Binary(absl::string_view op, const Tensor& x, const Tensor& y) {
  const Shape shape = BroadcastShape(x.shape(), y.shape());
  return Apply1(op, {BroadcastTo(x, shape), BroadcastTo(y, shape)});
}

Tensor Like(const Tensor& x, double value) { return Full(x.context(), x.type(), value); }

Attributes AxisAttributes(const Tensor& x, int axis) {
  return Attributes({{"axis", NormalizedAxis(x, axis)}});
}

Tensor Reduce(absl::string_view op, const Tensor& x, std::vector<int64_t> axes, bool keep_dims) {
  return Apply1(
      op, {x},
      Attributes({{"axes", NormalizedAxes(x, std::move(axes))}, {"keep_dims", keep_dims}}));
}

}  // namespace

std::vector<Tensor> Apply(absl::string_view op, absl::Span<const Tensor> operands,
                          Attributes attributes) {
  const ir::OpDef* definition = ops::FindOp(op);
  TRENCADIS_CHECK(definition != nullptr && !operands.empty());
  return operands[0].context().Record(*definition, operands, std::move(attributes));
}

Tensor Apply1(absl::string_view op, absl::Span<const Tensor> operands, Attributes attributes) {
  return Apply(op, operands, std::move(attributes))[0];
}

Tensor Constant(Context& context, Literal value) {
  return context.Record(
      *ops::FindOp("constant"), {},
      Attributes({{"value", std::make_shared<const Literal>(std::move(value))}}))[0];
}

Tensor Full(Context& context, TensorType type, double value) {
  Literal scalar({type.dtype, Shape{}});
  scalar.SetDouble(0, value);
  return BroadcastTo(Constant(context, std::move(scalar)), type.shape);
}

Tensor Zeros(Context& context, TensorType type) { return Full(context, std::move(type), 0); }

Tensor Iota(Context& context, TensorType type, int axis) {
  const int64_t positive = axis < 0 ? axis + type.shape.rank() : axis;
  return context.Record(
      *ops::FindOp("iota"), {},
      Attributes({{"dtype", type.dtype}, {"shape", type.shape.dims()}, {"axis", positive}}))[0];
}

Tensor Neg(const Tensor& x) { return Apply1("neg", {x}); }
Tensor Exp(const Tensor& x) { return Apply1("exp", {x}); }
Tensor Log(const Tensor& x) { return Apply1("log", {x}); }
Tensor Sqrt(const Tensor& x) { return Apply1("sqrt", {x}); }
Tensor Rsqrt(const Tensor& x) { return Apply1("rsqrt", {x}); }
Tensor Tanh(const Tensor& x) { return Apply1("tanh", {x}); }
Tensor Sigmoid(const Tensor& x) { return Apply1("sigmoid", {x}); }
Tensor Relu(const Tensor& x) { return Apply1("relu", {x}); }
Tensor Silu(const Tensor& x) { return Apply1("silu", {x}); }
Tensor GeluErf(const Tensor& x) { return Apply1("gelu_erf", {x}); }
Tensor GeluTanh(const Tensor& x) { return Apply1("gelu_tanh", {x}); }

Tensor Convert(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return Apply1("convert", {x}, Attributes({{"dtype", dtype}}));
}

Tensor Add(const Tensor& x, const Tensor& y) { return Binary("add", x, y); }
Tensor Sub(const Tensor& x, const Tensor& y) { return Binary("sub", x, y); }
Tensor Mul(const Tensor& x, const Tensor& y) { return Binary("mul", x, y); }
Tensor Div(const Tensor& x, const Tensor& y) { return Binary("div", x, y); }
Tensor Pow(const Tensor& x, const Tensor& y) { return Binary("pow", x, y); }
Tensor Max(const Tensor& x, const Tensor& y) { return Binary("max", x, y); }
Tensor Min(const Tensor& x, const Tensor& y) { return Binary("min", x, y); }
Tensor Add(const Tensor& x, double y) { return Add(x, Like(x, y)); }
Tensor Sub(double x, const Tensor& y) { return Sub(Like(y, x), y); }
Tensor Mul(const Tensor& x, double y) { return Mul(x, Like(x, y)); }
Tensor Div(const Tensor& x, double y) { return Div(x, Like(x, y)); }
Tensor Max(const Tensor& x, double y) { return Max(x, Like(x, y)); }
Tensor Min(const Tensor& x, double y) { return Min(x, Like(x, y)); }
Tensor Equal(const Tensor& x, const Tensor& y) { return Binary("eq", x, y); }
Tensor NotEqual(const Tensor& x, const Tensor& y) { return Binary("ne", x, y); }
Tensor Less(const Tensor& x, const Tensor& y) { return Binary("lt", x, y); }
Tensor GreaterEqual(const Tensor& x, const Tensor& y) { return Binary("ge", x, y); }

Tensor Select(const Tensor& condition, const Tensor& if_true, const Tensor& if_false) {
  const Shape shape =
      BroadcastShape(condition.shape(), BroadcastShape(if_true.shape(), if_false.shape()));
  return Apply1("select", {BroadcastTo(condition, shape), BroadcastTo(if_true, shape),
                           BroadcastTo(if_false, shape)});
}

Tensor BroadcastTo(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  std::vector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), shape.rank() - x.rank());
  return Apply1("broadcast", {x}, Attributes({{"shape", shape.dims()}, {"axes", std::move(axes)}}));
}

Tensor Reshape(const Tensor& x, std::vector<int64_t> dims) {
  int64_t known = 1;
  for (int64_t dim : dims) known *= dim == -1 ? 1 : dim;
  for (int64_t& dim : dims) {
    if (dim == -1) dim = known == 0 ? 0 : x.shape().num_elements() / known;
  }
  if (x.shape().dims() == dims) return x;
  return Apply1("reshape", {x}, Attributes({{"shape", std::move(dims)}}));
}

Tensor Transpose(const Tensor& x, std::vector<int64_t> permutation) {
  return Apply1("transpose", {x}, Attributes({{"permutation", std::move(permutation)}}));
}

Tensor Slice(const Tensor& x, int axis, int64_t start, int64_t limit) {
  const absl::StatusOr<int> at = NormalizeAxis(axis, x.rank());
  if (!at.ok()) {
    x.context().Fail(Annotate(at.status(), "slice"));
    return x;
  }
  std::vector<int64_t> starts(x.rank(), 0);
  std::vector<int64_t> limits = x.shape().dims();
  starts[*at] = start;
  limits[*at] = limit;
  std::vector<int64_t> strides(x.rank(), 1);
  return Apply1("slice", {x},
                Attributes({{"starts", std::move(starts)},
                            {"limits", std::move(limits)},
                            {"strides", std::move(strides)}}));
}

Tensor Reverse(const Tensor& x, int axis) {
  return Apply1("reverse", {x},
                Attributes({{"axes", std::vector<int64_t>{NormalizedAxis(x, axis)}}}));
}

Tensor Concatenate(absl::Span<const Tensor> xs, int axis) {
  return xs.size() == 1 ? xs[0] : Apply1("concatenate", xs, AxisAttributes(xs[0], axis));
}

Tensor ReduceSum(const Tensor& x, std::vector<int64_t> axes, bool keep_dims) {
  return Reduce("reduce_sum", x, std::move(axes), keep_dims);
}

Tensor ReduceMax(const Tensor& x, std::vector<int64_t> axes, bool keep_dims) {
  return Reduce("reduce_max", x, std::move(axes), keep_dims);
}

Tensor ReduceMean(const Tensor& x, std::vector<int64_t> axes, bool keep_dims) {
  const Tensor sum = ReduceSum(x, std::move(axes), keep_dims);
  const int64_t sums = std::max<int64_t>(1, sum.shape().num_elements());
  return Mul(sum, 1.0 / static_cast<double>(x.shape().num_elements() / sums));
}

Tensor SumAll(const Tensor& x) {
  std::vector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return ReduceSum(x, std::move(axes));
}

Tensor MatMul(const Tensor& a, const Tensor& b, MatMulOptions options) {
  return Apply1("matmul", {a, b},
                Attributes({{"transpose_a", options.transpose_a},
                            {"transpose_b", options.transpose_b},
                            {"dtype", options.result_dtype.value_or(a.dtype())}}));
}

Tensor Take(const Tensor& table, const Tensor& ids) { return Apply1("take", {table, ids}); }

Tensor ArgMax(const Tensor& x, int axis) { return Apply1("argmax", {x}, AxisAttributes(x, axis)); }

Tensor DynamicSlice(const Tensor& x, const Tensor& start, int axis, int64_t size) {
  Attributes attributes = AxisAttributes(x, axis);
  attributes.Set("size", size);
  return Apply1("dynamic_slice", {x, start}, std::move(attributes));
}

Tensor DynamicUpdateSlice(const Tensor& x, const Tensor& update, const Tensor& start, int axis) {
  return Apply1("dynamic_update_slice", {x, update, start}, AxisAttributes(x, axis));
}

Tensor Attention(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options) {
  std::vector<Tensor> operands = {q, k, v};
  const bool has_segments = options.query_segments.has_value();
  if (has_segments) {
    operands.push_back(*options.query_segments);
    operands.push_back(*options.key_segments);
  }
  if (options.query_offset.has_value()) operands.push_back(*options.query_offset);
  return Apply1("attention", operands,
                Attributes({{"scale", options.scale},
                            {"causal", options.causal},
                            {"window", options.window},
                            {"has_segments", has_segments},
                            {"has_offset", options.query_offset.has_value()}}));
}

Tensor LinearCrossEntropy(const Tensor& x, const Tensor& w, const Tensor& labels,
                          int64_t ignore_index) {
  Attributes attributes({{"ignore_index", ignore_index}});
  const OpListener* listener = x.context().listener();
  const bool needs_dw = listener != nullptr && listener->NeedsGradient(w);
  if (!needs_dw && (listener == nullptr || !listener->NeedsGradient(x))) {
    return Apply1("linear_cross_entropy", {x, w, labels}, std::move(attributes));
  }
  attributes.Set("needs_dw", needs_dw);
  return Apply1("linear_cross_entropy_with_grad", {x, w, labels}, std::move(attributes));
}

LossAndHits LinearCrossEntropyAndHits(const Tensor& x, const Tensor& w, const Tensor& labels,
                                      int64_t ignore_index) {
  std::vector<Tensor> results =
      Apply("linear_cross_entropy", {x, w, labels}, {{"ignore_index", ignore_index}});
  return {std::move(results[0]), std::move(results[2])};
}

Tensor Barrier(const Tensor& x, absl::Span<const Tensor> after) {
  std::vector<Tensor> operands = {x};
  operands.insert(operands.end(), after.begin(), after.end());
  return Apply1("barrier", operands);
}

}  // namespace trencadis::lazy
