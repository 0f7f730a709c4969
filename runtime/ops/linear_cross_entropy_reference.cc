#include "runtime/ops/linear_cross_entropy_reference.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace trencadis::ops {
namespace {

std::vector<double> ToDoubles(const Literal& literal) {
  std::vector<double> values(literal.num_elements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = literal.AsDouble(i);
  return values;
}

Literal ToLiteral(const TensorType& type, const std::vector<double>& values) {
  Literal literal(type);
  for (size_t i = 0; i < values.size(); ++i) literal.SetDouble(i, values[i]);
  return literal;
}

double LogSumExp(const std::vector<double>& values) {
  const double highest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double value : values) sum += std::exp(value - highest);
  return highest + std::log(sum);
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

absl::StatusOr<Literals> LinearCrossEntropyReference(LiteralSpan operands,
                                                     const ir::Attributes& attributes,
                                                     const ir::TypeList& results) {
  const int64_t rows = operands[0].shape().dim(0);
  const int64_t width = operands[0].shape().dim(1);
  const int64_t vocabulary = operands[1].shape().dim(0);
  const int64_t ignore_index = attributes.GetOr<int64_t>("ignore_index", -100);
  const double smoothing = attributes.GetOr<double>("label_smoothing", 0);
  const std::vector<double> x = ToDoubles(operands[0]);
  const std::vector<double> w = ToDoubles(operands[1]);
  double loss = 0, correct = 0;
  std::vector<double> lse(rows, 0.0), dx(x.size(), 0.0), dw(w.size(), 0.0);
  for (int64_t n = 0; n < rows; ++n) {
    const int64_t label = operands[2].data<int32_t>()[n];
    if (label == ignore_index) continue;
    if (label < 0 || label >= vocabulary) {
      return absl::OutOfRangeError(absl::StrCat("linear_cross_entropy: label ", n, " is ", label,
                                                "; wanted 0 to ", vocabulary - 1, " or ",
                                                ignore_index));
    }
    std::vector<double> logits(vocabulary, 0.0);
    for (int64_t v = 0; v < vocabulary; ++v) {
      for (int64_t d = 0; d < width; ++d) logits[v] += x[n * width + d] * w[v * width + d];
    }
    lse[n] = LogSumExp(logits);
    // The first of equals.
    correct += std::max_element(logits.begin(), logits.end()) - logits.begin() == label;
    loss += lse[n] - (1 - smoothing) * logits[label] - smoothing * Mean(logits);
    for (int64_t v = 0; v < vocabulary; ++v) {
      const double dlogit = std::exp(logits[v] - lse[n]) - (1 - smoothing) * (v == label) -
                            smoothing / static_cast<double>(vocabulary);
      for (int64_t d = 0; d < width; ++d) {
        dx[n * width + d] += dlogit * w[v * width + d];
        dw[v * width + d] += dlogit * x[n * width + d];
      }
    }
  }
  Literals values = {ToLiteral(results[0], {loss}), ToLiteral(results[1], lse)};
  if (!attributes.Has("needs_dw")) {
    values.push_back(ToLiteral(results[2], {correct}));
    return values;
  }
  values.push_back(ToLiteral(results[2], dx));
  if (results.size() > 3) values.push_back(ToLiteral(results[3], dw));
  return values;
}

}  // namespace trencadis::ops
