#include "models/adapters/lora.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/checkpoint/peft.h"
#include "runtime/lazy/ops.h"

namespace trencadis::adapters {
namespace {

using lazy::Tensor;

bool Matches(const std::string& module, const std::string& target) {
  return module == target || absl::EndsWith(module, absl::StrCat(".", target));
}

std::string LastPart(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

LoraAdapter::LoraAdapter(const nn::Linear& linear, const LoraOptions& options, int32_t site)
    : scale_(options.alpha / static_cast<double>(options.rank)),
      dropout_(options.dropout),
      site_(site) {
  a_.shape = Shape{options.rank, linear.in()};
  a_.logical_axes = {"rank", "embed"};
  // kaiming_uniform_(a=sqrt(5)) has the bound sqrt(6 / ((1 + a²) in)) = 1 / sqrt(in).
  a_.initializer = {nn::Initializer::Kind::kUniform, 1.0 / std::sqrt(linear.in())};
  b_.shape = Shape{linear.out(), options.rank};
  b_.logical_axes = {"heads", "rank"};
  Register("lora_A.weight", &a_);
  Register("lora_B.weight", &b_);
}

Tensor LoraAdapter::Forward(const Tensor& x, const Tensor& y, const nn::ForwardMode& mode) const {
  Tensor input = x;
  if (dropout_ > 0 && mode.randomness.has_value()) {
    if (!site_tensor_.defined()) {
      site_tensor_ = Tensor::FromHost(x.context(), Literal::Scalar<int32_t>(site_));
    }
    input = nn::Dropout(x, dropout_, *mode.randomness, site_tensor_);
  }
  // Scaled while it is narrow.
  const Tensor low =
      lazy::Mul(lazy::MatMul(input, a_.As(mode.compute), {.transpose_b = true}), scale_);
  return lazy::Add(y, lazy::MatMul(low, b_.As(mode.compute), {.transpose_b = true}));
}

absl::StatusOr<std::vector<LoraSite>> AddLora(nn::Module& model, const LoraOptions& options) {
  if (options.rank <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("lora_rank is ", options.rank, "; wanted a positive number"));
  }
  for (const nn::NamedParameter& parameter : model.Parameters()) {
    parameter.parameter->trainable = false;
  }
  std::vector<LoraSite> sites;
  std::set<std::string> available;
  std::set<std::string> unmatched(options.target_modules.begin(), options.target_modules.end());
  model.VisitModules([&](const std::string& name, nn::Module& module) {
    auto* linear = dynamic_cast<nn::Linear*>(&module);
    if (linear == nullptr) return;
    available.insert(LastPart(name));
    const auto target = std::find_if(options.target_modules.begin(), options.target_modules.end(),
                                     [&](const std::string& t) { return Matches(name, t); });
    if (target == options.target_modules.end()) return;
    unmatched.erase(*target);
    auto adapter =
        std::make_unique<LoraAdapter>(*linear, options, static_cast<int32_t>(sites.size()));
    sites.push_back({name, adapter.get()});
    linear->SetAdapter(std::move(adapter));
  });
  if (!unmatched.empty() || sites.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lora_target_modules names ",
        unmatched.empty() ? "nothing" : absl::StrJoin(unmatched, ", "),
        ", which is no linear layer of this model; it has ", absl::StrJoin(available, ", ")));
  }
  return sites;
}

std::vector<nn::NamedParameter> LoraParameters(const std::vector<LoraSite>& sites) {
  std::vector<nn::NamedParameter> parameters;
  for (const LoraSite& site : sites) {
    parameters.push_back({checkpoint::LoraAName(site.module), &site.adapter->a()});
    parameters.push_back({checkpoint::LoraBName(site.module), &site.adapter->b()});
  }
  return parameters;
}

}  // namespace trencadis::adapters
