#include "training/optimizer.h"

#include <cmath>
#include <utility>

#include "runtime/lazy/ops.h"

namespace trencadis::training {
namespace {

using lazy::Add;
using lazy::Mul;
using lazy::Tensor;

Tensor Scalar(lazy::Context& context, double value) {
  return Tensor::FromHost(context, Literal::Scalar<float>(static_cast<float>(value)));
}

}  // namespace

AdamW::AdamW(lazy::Context& context, std::vector<nn::NamedParameter> parameters,
             const AdamWOptions& options)
    : context_(context), options_(options), parameters_(std::move(parameters)) {
  for (const nn::NamedParameter& parameter : parameters_) {
    const Literal zeros({DType::kF32, parameter.parameter->shape});
    moments_.push_back(
        {parameter.name, Tensor::FromHost(context, zeros), Tensor::FromHost(context, zeros)});
  }
}

void AdamW::Step(absl::Span<const Tensor> gradients, double learning_rate) {
  ++step_;
  const auto t = static_cast<double>(step_);
  // What varies from step to step is an input, so that every step has the same recipe.
  const Tensor step_size = Scalar(context_, -learning_rate / (1 - std::pow(options_.beta1, t)));
  const Tensor second_scale = Scalar(context_, 1 / std::sqrt(1 - std::pow(options_.beta2, t)));
  const Tensor kept = Scalar(context_, 1 - learning_rate * options_.weight_decay);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    nn::Parameter& parameter = *parameters_[i].parameter;
    lazy::LabelScope scope(context_, "optimizer");
    Moments& moments = moments_[i];
    const Tensor& g = gradients[i];
    moments.first = Add(Mul(moments.first, options_.beta1), Mul(g, 1 - options_.beta1));
    moments.second = Add(Mul(moments.second, options_.beta2), Mul(Mul(g, g), 1 - options_.beta2));
    const Tensor scale = Add(Mul(lazy::Sqrt(moments.second), second_scale), options_.epsilon);
    const bool decays = parameter.decays && options_.weight_decay != 0;
    const Tensor old = decays ? Mul(parameter.value, kept) : parameter.value;
    parameter.value = Add(old, Mul(lazy::Div(moments.first, scale), step_size));
  }
}

Tensor GlobalNorm(absl::Span<const Tensor> gradients) {
  Tensor sum;
  for (const Tensor& gradient : gradients) {
    const Tensor squares = lazy::SumAll(Mul(gradient, gradient));
    sum = sum.defined() ? Add(sum, squares) : squares;
  }
  return lazy::Sqrt(sum);
}

std::vector<Tensor> ClipByNorm(absl::Span<const Tensor> gradients, const Tensor& norm,
                               double max_norm) {
  lazy::Context& context = norm.context();
  const Tensor limit = lazy::Full(context, norm.type(), max_norm);
  const Tensor scale = lazy::Min(lazy::Div(limit, Add(norm, 1e-6)), 1.0);
  std::vector<Tensor> clipped;
  for (const Tensor& gradient : gradients) clipped.push_back(Mul(gradient, scale));
  return clipped;
}

}  // namespace trencadis::training
