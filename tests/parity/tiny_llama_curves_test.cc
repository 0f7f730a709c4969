// 20-step loss curves of tiny Llamas: equal to PyTorch's, and equal in every mode of execution.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/base/status.h"
#include "tests/parity/tiny_llama.h"
#include "training/schedule.h"

namespace trencadis::parity {
namespace {

constexpr int kSteps = 20;

struct CurveOptions {
  std::string variant;
  bool lora = false;
  int accumulation = 1;
  int64_t max_compound_ops = 0;
  bool checkpointing = false;
  DType compute = DType::kF32;
};

struct Curve {
  std::vector<double> losses;
  std::vector<double> norms;
  double held_out = 0;
};

std::string RunName(const CurveOptions& options) {
  return (options.lora ? "lora_" : "full_") + std::to_string(options.accumulation);
}

absl::StatusOr<double> HeldOutLoss(TinyLlama& llama, const nlohmann::json& batches, DType compute) {
  double sum = 0;
  int64_t tokens = 0;
  for (const nlohmann::json& golden : batches) {
    const training::HostBatch batch = ToBatch(golden);
    TRENCADIS_ASSIGN_OR_RETURN(
        const lazy::LossAndHits score,
        training::EvaluateBatch(llama.context(), llama.model(), batch, compute));
    TRENCADIS_ASSIGN_OR_RETURN(const Literal value, score.loss_sum.ToHost());
    sum += value.AsDouble(0);
    tokens += batch.target_tokens;
  }
  return sum / static_cast<double>(tokens);
}

absl::StatusOr<Curve> Train(const CurveOptions& options) {
  TinyLlama llama({.variant = options.variant,
                   .lora = options.lora,
                   .max_compound_ops = options.max_compound_ops,
                   .compute = options.compute});
  const nlohmann::json golden = llama.Golden("curves.json");
  const nlohmann::json& run = golden["runs"][RunName(options)];
  const nlohmann::json& shared = golden["options"];
  const training::LearningRateSchedule schedule{training::ScheduleKind::kCosine,
                                                run["learning_rate"], shared["warmup_steps"],
                                                shared["steps"]};
  training::TrainStep step(
      llama.context(), llama.model(), llama.Trainable(),
      {.epsilon = shared["adam_epsilon"], .weight_decay = shared["weight_decay"]},
      {.compute = options.compute,
       .gradient_checkpointing = options.checkpointing,
       .max_grad_norm = run["max_grad_norm"]});
  const nlohmann::json batches = ReadGolden("batches.json");
  Curve curve;
  for (int s = 0; s < kSteps; ++s) {
    std::vector<training::HostBatch> micro;
    for (int m = 0; m < options.accumulation; ++m) {
      micro.push_back(ToBatch(batches["train"][s * options.accumulation + m]));
    }
    TRENCADIS_ASSIGN_OR_RETURN(const training::TrainStepResult result,
                               step.Run(micro, schedule.RateAt(s)));
    TRENCADIS_ASSIGN_OR_RETURN(const Literal loss, result.loss.ToHost());
    TRENCADIS_ASSIGN_OR_RETURN(const Literal norm, result.grad_norm.ToHost());
    curve.losses.push_back(loss.AsDouble(0));
    curve.norms.push_back(norm.AsDouble(0));
  }
  TRENCADIS_ASSIGN_OR_RETURN(curve.held_out,
                             HeldOutLoss(llama, batches["held_out"], options.compute));
  return curve;
}

using Run = std::tuple<std::string, bool, int>;

class CurvesTest : public ::testing::TestWithParam<Run> {
 protected:
  CurveOptions Options() const {
    return {.variant = std::get<0>(GetParam()),
            .lora = std::get<1>(GetParam()),
            .accumulation = std::get<2>(GetParam())};
  }
  nlohmann::json Golden() const {
    return ReadGolden(Options().variant + "/curves.json")["runs"][RunName(Options())];
  }
};

TEST_P(CurvesTest, EqualPyTorch) {
  const nlohmann::json golden = Golden();
  for (const bool checkpointing : {false, true}) {
    CurveOptions options = Options();
    options.checkpointing = checkpointing;
    const absl::StatusOr<Curve> curve = Train(options);
    ASSERT_TRUE(curve.ok()) << curve.status();
    for (int s = 0; s < kSteps; ++s) {
      EXPECT_NEAR(curve->losses[s], golden["losses"][s].get<double>(), 1e-4) << "step " << s;
      const double norm = golden["gradient_norms_before_clipping"][s];
      EXPECT_NEAR(curve->norms[s], norm, 1e-3 * norm) << "step " << s;
    }
    EXPECT_NEAR(curve->held_out, golden["held_out_loss"].get<double>(), 1e-4);
  }
}

TEST_P(CurvesTest, EveryModeGivesTheSame) {
  const absl::StatusOr<Curve> lazy_curve = Train(Options());
  ASSERT_TRUE(lazy_curve.ok()) << lazy_curve.status();
  for (const int64_t max_compound_ops : {1, 10}) {
    CurveOptions options = Options();
    options.max_compound_ops = max_compound_ops;
    const absl::StatusOr<Curve> curve = Train(options);
    ASSERT_TRUE(curve.ok()) << curve.status();
    for (int s = 0; s < kSteps; ++s) {
      EXPECT_NEAR(curve->losses[s], lazy_curve->losses[s], 1e-6)
          << "step " << s << ", cut every " << max_compound_ops << " ops";
    }
  }
}

// At these learning rates a rounding changes a later step of so small a model by more than 2 % (5 %
// was seen at one step of twelve runs), so steps are compared one by one in the first half only.
TEST_P(CurvesTest, Bf16StaysWithinTwoPercent) {
  CurveOptions options = Options();
  options.compute = DType::kBF16;
  const absl::StatusOr<Curve> curve = Train(options);
  ASSERT_TRUE(curve.ok()) << curve.status();
  const nlohmann::json golden = Golden();
  double sum = 0, golden_sum = 0;
  for (int s = 0; s < kSteps; ++s) {
    const double loss = golden["losses"][s];
    sum += curve->losses[s];
    golden_sum += loss;
    if (s < kSteps / 2) {
      EXPECT_NEAR(curve->losses[s], loss, 0.02 * loss) << "step " << s;
    }
  }
  EXPECT_NEAR(sum, golden_sum, 0.02 * golden_sum);
  const double held_out = golden["held_out_loss"];
  EXPECT_NEAR(curve->held_out, held_out, 0.02 * held_out);
}

INSTANTIATE_TEST_SUITE_P(Runs, CurvesTest,
                         ::testing::Combine(::testing::Values("tied", "untied", "grouped"),
                                            ::testing::Bool(), ::testing::Values(1, 4)),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  (std::get<1>(info.param) ? "_lora_" : "_full_") +
                                  std::to_string(std::get<2>(info.param));
                         });

}  // namespace
}  // namespace trencadis::parity
