// LoRA (Hu et al., 2021): y + scale * B A dropout(x) on named linear layers, as PEFT does it.
#ifndef TRENCADIS_MODELS_ADAPTERS_LORA_H_
#define TRENCADIS_MODELS_ADAPTERS_LORA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/nn/linear.h"
#include "models/nn/module.h"

namespace trencadis::adapters {

struct LoraOptions {
  int64_t rank = 8;
  double alpha = 16;
  double dropout = 0;
  // A module is adapted if its name ends in one of these, at a dot: "q_proj".
  std::vector<std::string> target_modules;
};

class LoraAdapter : public nn::LinearAdapter {
 public:
  // `site`: the number that this adapter's dropout draws with.
  LoraAdapter(const nn::Linear& linear, const LoraOptions& options, int32_t site);

  lazy::Tensor Forward(const lazy::Tensor& x, const lazy::Tensor& y,
                       const nn::ForwardMode& mode) const override;

  nn::Parameter& a() { return a_; }  // [rank, in], "lora_A.weight": Kaiming uniform, a = sqrt(5)
  nn::Parameter& b() { return b_; }  // [out, rank], "lora_B.weight": zeros

 private:
  double scale_;  // alpha / rank
  double dropout_;
  int32_t site_;
  // On the device, so that equal layers share a recipe; made at first use.
  mutable lazy::Tensor site_tensor_;
  nn::Parameter a_;
  nn::Parameter b_;
};

struct LoraSite {
  std::string module;  // "model.layers.0.self_attn.q_proj"
  LoraAdapter* adapter;
};

// Freezes every parameter of `model` and puts an adapter on each linear layer that `options` names.
// InvalidArgument when a name matches no linear layer, listing those there are, or the rank is not
// positive.
absl::StatusOr<std::vector<LoraSite>> AddLora(nn::Module& model, const LoraOptions& options);

// The adapters' parameters under PEFT's names.
std::vector<nn::NamedParameter> LoraParameters(const std::vector<LoraSite>& sites);

}  // namespace trencadis::adapters

#endif  // TRENCADIS_MODELS_ADAPTERS_LORA_H_
