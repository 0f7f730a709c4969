// Parity with transformers on tiny random Llamas: logits, gradients, padding, packing, adapters.
#include "tests/parity/tiny_llama.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/generation/generator.h"

namespace trencadis::parity {
namespace {

class TinyLlamaTest : public ::testing::TestWithParam<std::string> {};

TEST_P(TinyLlamaTest, LogitsEqualTransformers) {
  TinyLlama llama({.variant = GetParam()});
  const Literal logits =
      llama.Logits({llama.ToDevice(ToLiteral(llama.Golden("golden.json")["forward"]["input_ids"])),
                    std::nullopt, std::nullopt});
  const Literal golden = *llama.Tensors("logits.safetensors")->Read("forward");
  EXPECT_LT(MaxDifference(logits, golden), 1e-5);
}

TEST_P(TinyLlamaTest, PaddedRowsEqualThoseAlone) {
  TinyLlama llama({.variant = GetParam()});
  const nlohmann::json padding = llama.Golden("golden.json")["padding"];
  for (const char* side : {"right", "left"}) {
    const nlohmann::json& batch = padding[side];
    Literal segments = ToLiteral(batch["attention_mask"]);
    for (int32_t& segment : segments.data<int32_t>()) segment -= 1;  // padding -1, tokens 0
    const Literal logits =
        llama.Logits({llama.ToDevice(ToLiteral(batch["input_ids"])), llama.ToDevice(segments),
                      llama.ToDevice(ToLiteral(batch["position_ids"]))});
    const int64_t length = logits.shape().dim(1), vocabulary = logits.shape().dim(2);
    for (int64_t row = 0; row < logits.shape().dim(0); ++row) {
      const Literal alone =
          *llama.Tensors("logits.safetensors")->Read("padding.row" + std::to_string(row));
      const int64_t tokens = alone.shape().dim(0);
      const int64_t first = std::string(side) == "left" ? length - tokens : 0;
      for (int64_t i = 0; i < alone.num_elements(); ++i) {
        const int64_t at = (row * length + first) * vocabulary + i;
        ASSERT_NEAR(logits.AsDouble(at), alone.AsDouble(i), 1e-5) << side << " row " << row;
      }
    }
  }
}

TEST_P(TinyLlamaTest, PackedDocumentsEqualThoseAlone) {
  TinyLlama llama({.variant = GetParam()});
  const nlohmann::json packed = llama.Golden("golden.json")["packed"];
  const auto row = [&](const char* key) {
    return llama.ToDevice(ToLiteral(nlohmann::json::array({packed[key]})));
  };
  const Literal logits = llama.Logits({row("input_ids"), row("segment_ids"), row("position_ids")});
  const Literal golden = *llama.Tensors("logits.safetensors")->Read("packed");
  for (int64_t i = 0; i < golden.num_elements(); ++i) {
    ASSERT_NEAR(logits.AsDouble(i), golden.AsDouble(i), 1e-5);
  }
}

TEST_P(TinyLlamaTest, GradientsEqualTransformers) {
  for (const bool checkpointing : {false, true}) {
    TinyLlama llama({.variant = GetParam()});
    training::TrainStep step(llama.context(), llama.model(), llama.Trainable(), {},
                             {.gradient_checkpointing = checkpointing});
    const nlohmann::json forward = llama.Golden("golden.json")["forward"];
    lazy::Tensor loss;
    const auto gradients = step.Gradients({ToBatch(forward)}, &loss);
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    EXPECT_NEAR(loss.ToHost()->AsDouble(0), forward["loss"].get<double>(), 1e-5);
    const auto golden = llama.Tensors("gradients.safetensors");
    const std::vector<nn::NamedParameter> parameters = llama.Trainable();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Literal expected = *golden->Read(parameters[i].name);
      EXPECT_LT(RelativeNorm(*(*gradients)[i].ToHost(), expected), 1e-4) << parameters[i].name;
    }
  }
}

TEST_P(TinyLlamaTest, AdapterEqualsPeft) {
  TinyLlama llama({.variant = GetParam(), .lora = true, .adapter = "nonzero"});
  const nlohmann::json forward = llama.Golden("golden.json")["forward"];
  const auto golden = llama.Tensors("adapter.safetensors");
  const Literal logits =
      llama.Logits({llama.ToDevice(ToLiteral(forward["input_ids"])), std::nullopt, std::nullopt});
  EXPECT_LT(MaxDifference(logits, *golden->Read("logits")), 1e-5);
  training::TrainStep step(llama.context(), llama.model(), llama.Trainable(), {}, {});
  lazy::Tensor loss;
  const auto gradients = step.Gradients({ToBatch(forward)}, &loss);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_NEAR(loss.ToHost()->AsDouble(0), llama.Golden("adapter.json")["loss"].get<double>(), 1e-5);
  const std::vector<nn::NamedParameter> parameters = llama.Trainable();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Literal expected = *golden->Read("gradient." + parameters[i].name);
    EXPECT_LT(RelativeNorm(*(*gradients)[i].ToHost(), expected), 1e-4) << parameters[i].name;
  }
}

TEST_P(TinyLlamaTest, GreedyTokensEqualTransformers) {
  TinyLlama llama({.variant = GetParam()});
  std::vector<std::vector<int32_t>> prompts, expected;
  const nlohmann::json greedy = llama.Golden("golden.json")["greedy"];
  for (const nlohmann::json& golden : greedy) {
    prompts.push_back(golden["prompt"]);
    expected.push_back(golden["tokens"]);
  }
  generation::Generator generator(llama.context(), llama.model());
  const generation::GenerationOptions options{.max_new_tokens = 40};
  for (size_t i = 0; i < prompts.size(); ++i) {
    const auto alone = generator.Generate({prompts[i]}, options);
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_EQ(alone->tokens[0], expected[i]);
  }
  const auto together = generator.Generate(prompts, options);
  ASSERT_TRUE(together.ok()) << together.status();
  EXPECT_EQ(together->tokens, expected);
}

INSTANTIATE_TEST_SUITE_P(Variants, TinyLlamaTest, ::testing::Values("tied", "untied", "grouped"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace trencadis::parity
