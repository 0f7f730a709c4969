#include "models/adapters/lora.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/lazy/testing.h"

namespace trencadis::adapters {
namespace {

using lazy::FromValues;
using lazy::Tensor;
using lazy::Values;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

// Two layers of two projections 2 -> 3.
class Layers : public nn::Module {
 public:
  class Layer : public nn::Module {
   public:
    Layer() : q({.in = 2, .out = 3}), up({.in = 2, .out = 3}) {
      Register("self_attn.q_proj", &q);
      Register("mlp.up_proj", &up);
    }
    nn::Linear q, up;
  };
  Layers() {
    Register("layers.0", &first);
    Register("layers.1", &second);
  }
  Layer first, second;
};

class LoraTest : public testing::Test {
 protected:
  Tensor Of(Shape shape, const std::vector<float>& values) {
    return FromValues(machine_.context, std::move(shape), values);
  }

  lazy::TestMachine machine_;
  Layers layers_;
};

TEST_F(LoraTest, AddsTheScaledProductOfItsMatrices) {
  const auto sites = AddLora(layers_, {.rank = 1, .alpha = 4, .target_modules = {"q_proj"}});
  ASSERT_TRUE(sites.ok()) << sites.status();
  layers_.first.q.weight().value = Of({3, 2}, {1, 0, 0, 1, 1, 1});
  (*sites)[0].adapter->a().value = Of({1, 2}, {1, 2});
  (*sites)[0].adapter->b().value = Of({3, 1}, {1, 0, -1});
  // x Wᵀ = (5, 7, 12); a x = 19; scale 4.
  EXPECT_THAT(Values(layers_.first.q.Forward(Of({1, 2}, {5, 7}), {})),
              ElementsAre(5 + 76, 7, 12 - 76));
}

TEST_F(LoraTest, DropoutIsForTrainingOnly) {
  const auto sites = AddLora(layers_, {.rank = 1, .dropout = 0.5, .target_modules = {"q_proj"}});
  ASSERT_TRUE(sites.ok()) << sites.status();
  layers_.first.q.weight().value = Of({3, 2}, std::vector<float>(6, 0));
  (*sites)[0].adapter->a().value = Of({1, 2}, {1, 1});
  (*sites)[0].adapter->b().value = Of({3, 1}, {1, 1, 1});
  const Tensor x = Of({8, 2}, std::vector<float>(16, 1));
  const std::vector<float> calm = Values(layers_.first.q.Forward(x, {}));
  EXPECT_THAT(calm, testing::Each(FloatEq(16 * 2)));
  const Tensor zero = Tensor::FromHost(machine_.context, Literal::Scalar<int32_t>(0));
  nn::ForwardMode training;
  training.randomness =
      nn::Randomness{zero, zero, zero,
                     Tensor::FromHost(machine_.context,
                                      Literal::FromVector<int32_t>({8}, {0, 1, 2, 3, 4, 5, 6, 7}))};
  EXPECT_NE(Values(layers_.first.q.Forward(x, training)), calm);
}

TEST_F(LoraTest, FreezesTheModelAndNamesAsPeftDoes) {
  const auto sites = AddLora(layers_, {.rank = 4, .target_modules = {"q_proj", "1.mlp.up_proj"}});
  ASSERT_TRUE(sites.ok()) << sites.status();
  for (const auto& [name, parameter] : layers_.Parameters()) EXPECT_FALSE(parameter->trainable);
  std::vector<std::string> names;
  for (const auto& [name, parameter] : LoraParameters(*sites)) {
    EXPECT_TRUE(parameter->trainable);
    names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("base_model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                 "base_model.model.layers.0.self_attn.q_proj.lora_B.weight",
                                 "base_model.model.layers.1.self_attn.q_proj.lora_A.weight",
                                 "base_model.model.layers.1.self_attn.q_proj.lora_B.weight",
                                 "base_model.model.layers.1.mlp.up_proj.lora_A.weight",
                                 "base_model.model.layers.1.mlp.up_proj.lora_B.weight"));
  EXPECT_EQ((*sites)[0].adapter->a().shape, (Shape{4, 2}));
  EXPECT_EQ((*sites)[0].adapter->b().shape, (Shape{3, 4}));
}

TEST_F(LoraTest, UnknownModulesAndRanksAreRefused) {
  const absl::Status unknown =
      AddLora(layers_, {.rank = 4, .target_modules = {"q_proj", "k_proj"}}).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("names k_proj"));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("it has q_proj, up_proj"));
  // "proj" is the end of a name, but not a part of it.
  EXPECT_FALSE(AddLora(layers_, {.rank = 4, .target_modules = {"proj"}}).ok());
  EXPECT_FALSE(AddLora(layers_, {.rank = 0, .target_modules = {"q_proj"}}).ok());
}

}  // namespace
}  // namespace trencadis::adapters
