#include "runtime/ops/attention_reference.h"

#include <cmath>
#include <limits>

#include "runtime/ops/attention_shape.h"

namespace trencadis::ops {
namespace {

// A [B,X,Y,D] literal in double.
class Heads {
 public:
  explicit Heads(const Literal& literal) : shape_(literal.shape()) {
    for (int64_t i = 0; i < literal.num_elements(); ++i) values_.push_back(literal.AsDouble(i));
  }
  explicit Heads(const Shape& shape) : shape_(shape), values_(shape.num_elements(), 0.0) {}

  // The D values at [b, x, y].
  double* At(int64_t b, int64_t x, int64_t y) {
    return values_.data() + ((b * shape_.dim(1) + x) * shape_.dim(2) + y) * shape_.dim(3);
  }
  Literal ToLiteral(const TensorType& type) const {
    Literal literal(type);
    for (int64_t i = 0; i < literal.num_elements(); ++i) literal.SetDouble(i, values_[i]);
    return literal;
  }

 private:
  Shape shape_;
  std::vector<double> values_;
};

double Dot(const double* x, const double* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void AddScaled(double scale, const double* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += scale * x[i];
}

// Which keys a query sees.
struct Mask {
  AttentionShape shape;
  const Literal* q_segments = nullptr;
  const Literal* kv_segments = nullptr;
  int64_t offset = 0;

  // `masks`: the operands that follow the tensors.
  Mask(const AttentionShape& s, LiteralSpan masks) : shape(s) {
    if (shape.has_segments) {
      q_segments = &masks[0];
      kv_segments = &masks[1];
    }
    if (shape.has_offset) offset = IntAt(masks.back(), 0);
  }

  bool Sees(int64_t b, int64_t t, int64_t s) const {
    if (shape.causal && s > t + offset) return false;
    if (shape.window != 0 && s <= t + offset - shape.window) return false;
    return !shape.has_segments ||
           IntAt(*q_segments, b * shape.queries + t) == IntAt(*kv_segments, b * shape.keys + s);
  }
};

// Calls fn(b, t, h, kv head) for every query.
template <typename Fn>
void ForEachQuery(const AttentionShape& shape, Fn fn) {
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t t = 0; t < shape.queries; ++t) {
      for (int64_t h = 0; h < shape.heads; ++h) {
        fn(b, t, h, h / (shape.heads / shape.kv_heads));
      }
    }
  }
}

// The log of the sum of exp of the scores that are seen; -infinity when none is.
double LogSumExp(const std::vector<double>& scores) {
  double highest = -std::numeric_limits<double>::infinity();
  for (double score : scores) highest = std::fmax(highest, score);
  if (std::isinf(highest) && highest < 0) return highest;
  double sum = 0;
  for (double score : scores) sum += std::exp(score - highest);
  return highest + std::log(sum);
}

}  // namespace

absl::StatusOr<Literals> AttentionReference(LiteralSpan operands, const ir::Attributes& attributes,
                                            const ir::TypeList& results) {
  const auto shape = AttentionShape::Of(operands[0].type(), operands[1].type(), attributes);
  const Mask mask(shape, operands.subspan(3));
  Heads q(operands[0]), k(operands[1]), v(operands[2]), out(results[0].shape);
  Literal lse(results[1]);
  ForEachQuery(shape, [&](int64_t b, int64_t t, int64_t h, int64_t kv) {
    std::vector<double> scores(shape.keys, -std::numeric_limits<double>::infinity());
    for (int64_t s = 0; s < shape.keys; ++s) {
      if (!mask.Sees(b, t, s)) continue;
      scores[s] = shape.scale * Dot(q.At(b, t, h), k.At(b, s, kv), shape.width);
    }
    const double total = LogSumExp(scores);
    lse.SetDouble((b * shape.heads + h) * shape.queries + t, total);
    for (int64_t s = 0; s < shape.keys; ++s) {
      if (!mask.Sees(b, t, s)) continue;
      AddScaled(std::exp(scores[s] - total), v.At(b, s, kv), out.At(b, t, h), shape.width);
    }
  });
  return Literals{out.ToLiteral(results[0]), std::move(lse)};
}

// With p = exp(score - lse), o = sum p v and delta = dout . o:
//   dv += p dout,  ds = p (dout . v - delta),  dq += scale ds k,  dk += scale ds q.
absl::StatusOr<Literals> AttentionGradReference(LiteralSpan operands,
                                                const ir::Attributes& attributes,
                                                const ir::TypeList& results) {
  const auto shape = AttentionShape::Of(operands[1].type(), operands[2].type(), attributes);
  const Mask mask(shape, operands.subspan(6));
  Heads dout(operands[0]), q(operands[1]), k(operands[2]), v(operands[3]), out(operands[4]);
  Heads dq(results[0].shape), dk(results[1].shape), dv(results[2].shape);
  ForEachQuery(shape, [&](int64_t b, int64_t t, int64_t h, int64_t kv) {
    const double lse = operands[5].AsDouble((b * shape.heads + h) * shape.queries + t);
    const double delta = Dot(dout.At(b, t, h), out.At(b, t, h), shape.width);
    for (int64_t s = 0; s < shape.keys; ++s) {
      if (!mask.Sees(b, t, s)) continue;
      const double score = shape.scale * Dot(q.At(b, t, h), k.At(b, s, kv), shape.width);
      const double p = std::exp(score - lse);
      const double dp = Dot(dout.At(b, t, h), v.At(b, s, kv), shape.width);
      const double ds = shape.scale * p * (dp - delta);
      AddScaled(p, dout.At(b, t, h), dv.At(b, s, kv), shape.width);
      AddScaled(ds, k.At(b, s, kv), dq.At(b, t, h), shape.width);
      AddScaled(ds, q.At(b, t, h), dk.At(b, s, kv), shape.width);
    }
  });
  return Literals{dq.ToLiteral(results[0]), dk.ToLiteral(results[1]), dv.ToLiteral(results[2])};
}

}  // namespace trencadis::ops
