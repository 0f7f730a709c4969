#include "training/testing.h"

#include <utility>

#include "models/adapters/lora.h"
#include "models/zoo/load_model.h"
#include "runtime/base/status.h"

namespace trencadis::training {

checkpoint::ModelConfig TinyConfig() {
  checkpoint::ModelConfig config;
  config.vocab_size = 64;
  config.hidden_size = 32;
  config.intermediate_size = 64;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 8;
  config.max_position_embeddings = 1024;
  return config;
}

std::vector<Example> RandomExamples(int64_t count, int64_t tokens, int64_t vocabulary) {
  std::vector<Example> examples(count);
  int64_t id = 1;
  for (Example& example : examples) {
    for (int64_t t = 0; t < tokens; ++t) {
      id = (id * 37 + 11 + t % 3) % vocabulary;
      example.ids.push_back(static_cast<int32_t>(id));
    }
    example.labels = example.ids;
  }
  return examples;
}

TinyTraining::TinyTraining(const TinyTrainingOptions& options)
    : machine_(options.context, options.device, int64_t{16} << 30) {
  lazy::Context& context = machine_.context;
  auto model = zoo::CreateCausalLm(options.config);
  TRENCADIS_CHECK(model.ok());
  model_ = *std::move(model);
  trainable_ = model_->Parameters();
  if (options.lora) {
    const auto sites = adapters::AddLora(
        *model_,
        {.rank = 4, .dropout = options.lora_dropout, .target_modules = {"q_proj", "v_proj"}});
    TRENCADIS_CHECK(sites.ok());
    trainable_ = adapters::LoraParameters(*sites);
    TRENCADIS_CHECK(zoo::InitializeParameters(context, trainable_, 2, DType::kF32).ok());
  }
  TRENCADIS_CHECK(
      zoo::InitializeParameters(context, model_->Parameters(), 1, options.step.compute).ok());
  const std::vector<Example> examples = RandomExamples(options.rows * options.micro_batches,
                                                       options.tokens, options.config.vocab_size);
  for (int64_t at = 0; at < options.rows * options.micro_batches; at += options.rows) {
    std::vector<const Example*> rows;
    for (int64_t row = 0; row < options.rows; ++row) rows.push_back(&examples[at + row]);
    batches_.push_back(Collate(rows, at, {}));
  }
  step_.emplace(context, *model_, trainable_, AdamWOptions{}, options.step);
}

lazy::Tensor TinyTraining::Step() {
  auto result = step_->Run(batches_, 1e-3);
  TRENCADIS_CHECK(result.ok());
  TRENCADIS_CHECK(machine_.context.MarkStep().ok());
  return result->loss;
}

}  // namespace trencadis::training
