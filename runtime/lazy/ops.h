// The ops on tensors, as a model writes them.
//
// Binary functions broadcast as numpy does; both sides must have one dtype (convert explicitly). A
// double stands for a constant of the other side's dtype and becomes part of the graph: what varies
// from step to step is a tensor. Axes may be negative. Errors stick to the context. Semantics of
// each op: runtime/ops.
#ifndef TRENCADIS_RUNTIME_LAZY_OPS_H_
#define TRENCADIS_RUNTIME_LAZY_OPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/ir/attributes.h"
#include "runtime/lazy/context.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::lazy {

// Any op by name, for what has no function below.
std::vector<Tensor> Apply(absl::string_view op, absl::Span<const Tensor> operands,
                          ir::Attributes attributes = {});
Tensor Apply1(absl::string_view op, absl::Span<const Tensor> operands,
              ir::Attributes attributes = {});

// Generators.
Tensor Constant(Context& context, Literal value);
Tensor Full(Context& context, TensorType type, double value);
Tensor Zeros(Context& context, TensorType type);
// Element i along `axis` is i.
Tensor Iota(Context& context, TensorType type, int axis);

// Elementwise.
Tensor Neg(const Tensor& x);
Tensor Exp(const Tensor& x);
Tensor Log(const Tensor& x);
Tensor Sqrt(const Tensor& x);
Tensor Rsqrt(const Tensor& x);
Tensor Tanh(const Tensor& x);
Tensor Sigmoid(const Tensor& x);
Tensor Relu(const Tensor& x);
Tensor Silu(const Tensor& x);
Tensor GeluErf(const Tensor& x);
Tensor GeluTanh(const Tensor& x);
// x itself when it already has `dtype`.
Tensor Convert(const Tensor& x, DType dtype);

Tensor Add(const Tensor& x, const Tensor& y);
Tensor Sub(const Tensor& x, const Tensor& y);
Tensor Mul(const Tensor& x, const Tensor& y);
Tensor Div(const Tensor& x, const Tensor& y);
Tensor Pow(const Tensor& x, const Tensor& y);
Tensor Max(const Tensor& x, const Tensor& y);
Tensor Min(const Tensor& x, const Tensor& y);
Tensor Add(const Tensor& x, double y);
Tensor Sub(double x, const Tensor& y);
Tensor Mul(const Tensor& x, double y);
Tensor Div(const Tensor& x, double y);
Tensor Max(const Tensor& x, double y);
Tensor Min(const Tensor& x, double y);
Tensor Equal(const Tensor& x, const Tensor& y);
Tensor NotEqual(const Tensor& x, const Tensor& y);
Tensor Less(const Tensor& x, const Tensor& y);
Tensor GreaterEqual(const Tensor& x, const Tensor& y);
Tensor Select(const Tensor& condition, const Tensor& if_true, const Tensor& if_false);

// Views.
// To `shape`, as numpy: missing leading axes are added, axes of size one stretched.
Tensor BroadcastTo(const Tensor& x, const Shape& shape);
// One dimension may be -1.
Tensor Reshape(const Tensor& x, std::vector<int64_t> dims);
Tensor Transpose(const Tensor& x, std::vector<int64_t> permutation);
// Elements [start, limit) along `axis`.
Tensor Slice(const Tensor& x, int axis, int64_t start, int64_t limit);
Tensor Reverse(const Tensor& x, int axis);
Tensor Concatenate(absl::Span<const Tensor> xs, int axis);

// Reductions over `axes`.
Tensor ReduceSum(const Tensor& x, std::vector<int64_t> axes, bool keep_dims = false);
Tensor ReduceMax(const Tensor& x, std::vector<int64_t> axes, bool keep_dims = false);
Tensor ReduceMean(const Tensor& x, std::vector<int64_t> axes, bool keep_dims = false);
// Over all elements, to a scalar.
Tensor SumAll(const Tensor& x);

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  std::optional<DType> result_dtype;  // default: the operands'
};
// a [..., M, K] times b [K, N] or b [..., K, N].
Tensor MatMul(const Tensor& a, const Tensor& b, MatMulOptions options = {});

// Indexing.
// Rows of table [V, ...] at `ids`.
Tensor Take(const Tensor& table, const Tensor& ids);
Tensor ArgMax(const Tensor& x, int axis);
// `size` elements along `axis` from the i32 scalar `start`.
Tensor DynamicSlice(const Tensor& x, const Tensor& start, int axis, int64_t size);
// x with `update` written from `start` along `axis`; in place when x is dropped.
Tensor DynamicUpdateSlice(const Tensor& x, const Tensor& update, const Tensor& start, int axis);

struct AttentionOptions {
  double scale = 1;
  bool causal = false;
  int64_t window = 0;  // 0: unlimited
  // i32 [B,T] and [B,S]: a query sees the keys of its own segment. Both or neither.
  std::optional<Tensor> query_segments;
  std::optional<Tensor> key_segments;
  // i32 scalar: the position of query 0 among the keys.
  std::optional<Tensor> query_offset;
};
// q [B,T,H,D], k and v [B,S,K,D] with H a multiple of K: [B,T,H,D].
Tensor Attention(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options);

// Sum over rows of x [N,D] of the cross-entropy of softmax(x . wᵀ) with labels i32 [N]; rows
// labelled `ignore_index` are skipped. w is [V,D]. f32 scalar. Gradients are computed together with
// the loss.
Tensor LinearCrossEntropy(const Tensor& x, const Tensor& w, const Tensor& labels,
                          int64_t ignore_index);

struct LossAndHits {
  Tensor loss_sum;
  Tensor correct;  // i32 scalar: rows whose label is the first of the largest scores
};
// The same without gradients.
LossAndHits LinearCrossEntropyAndHits(const Tensor& x, const Tensor& w, const Tensor& labels,
                                      int64_t ignore_index);

// x, computed only after `after`, and never merged with an equal computation before it.
Tensor Barrier(const Tensor& x, absl::Span<const Tensor> after);

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_OPS_H_
