// A tiny Llama of tests/golden on a device of its own, with the goldens beside it.
#ifndef TRENCADIS_TESTS_PARITY_TINY_LLAMA_H_
#define TRENCADIS_TESTS_PARITY_TINY_LLAMA_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler_cache/memory_provider.h"
#include "models/adapters/lora.h"
#include "models/checkpoint/tensor_source.h"
#include "models/zoo/causal_lm.h"
#include "runtime/device/device.h"
#include "runtime/lazy/context.h"
#include "training/data/batch.h"
#include "training/train_step.h"

namespace trencadis::parity {

nlohmann::json ReadGolden(const std::string& name);
std::unique_ptr<checkpoint::TensorSource> OpenGolden(const std::string& name);

// [[...], ...] as i32 [B,T].
Literal ToLiteral(const nlohmann::json& rows);
// One batch of the goldens: {"input_ids", "labels"}, labels not shifted.
training::HostBatch ToBatch(const nlohmann::json& batch);

struct TinyLlamaOptions {
  std::string variant;              // "tied", "untied", "grouped"
  bool lora = false;                // start from the golden's adapter_initial, the base frozen
  std::string adapter = "initial";  // or "nonzero"
  int64_t max_compound_ops = 0;
  DType compute = DType::kF32;
};

class TinyLlama {
 public:
  explicit TinyLlama(const TinyLlamaOptions& options);

  lazy::Context& context() { return context_; }
  Device& device() { return device_; }
  zoo::CausalLm& model() { return *model_; }
  // The golden's "`variant`/golden.json" and the like.
  nlohmann::json Golden(const std::string& file) const;
  std::unique_ptr<checkpoint::TensorSource> Tensors(const std::string& file) const;
  // All parameters, or the adapter's.
  std::vector<nn::NamedParameter> Trainable();
  // f32 logits [B,T,V] of `ids`.
  Literal Logits(const zoo::TokenBatch& batch);
  lazy::Tensor ToDevice(const Literal& literal);

 private:
  const TinyLlamaOptions options_;
  compiler_cache::MemoryProvider recipes_;
  Device device_;
  lazy::Context context_;
  std::unique_ptr<zoo::CausalLm> model_;
  std::vector<adapters::LoraSite> lora_;
};

// max |a - b| over all elements of equal shapes.
double MaxDifference(const Literal& a, const Literal& b);
// ‖a - b‖ / ‖b‖.
double RelativeNorm(const Literal& a, const Literal& b);

}  // namespace trencadis::parity

#endif  // TRENCADIS_TESTS_PARITY_TINY_LLAMA_H_
