#include "runtime/autograd/tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "runtime/lazy/ops.h"
#include "runtime/lazy/testing.h"

namespace trencadis::autograd {
namespace {

using lazy::FromValues;
using lazy::RandomValues;
using lazy::Tensor;
using lazy::TestMachine;
using lazy::Values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A scalar function of x [4,6] and w [6,6], both with elements in (-1, 1).
struct Program {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& w)> run;
};

Tensor NormalisedRows(const Tensor& x) {
  const Tensor mean_square = lazy::ReduceMean(lazy::Mul(x, x), {-1}, /*keep_dims=*/true);
  return lazy::Mul(x, lazy::Rsqrt(lazy::Add(mean_square, 1e-2)));
}

Tensor Softmax(const Tensor& x) {
  const Tensor e = lazy::Exp(lazy::Sub(x, lazy::ReduceMax(x, {-1}, /*keep_dims=*/true)));
  return lazy::Div(e, lazy::ReduceSum(e, {-1}, /*keep_dims=*/true));
}

const std::vector<Program>& Programs() {
  static const auto* const programs = new std::vector<Program>{
      {"ProductAndActivation",
       [](const Tensor& x, const Tensor& w) {
         return lazy::SumAll(lazy::Mul(lazy::Silu(lazy::MatMul(x, w)), lazy::Tanh(x)));
       }},
      {"NormAndSoftmax",
       [](const Tensor& x, const Tensor& w) {
         const Tensor y = lazy::MatMul(NormalisedRows(x), w, {.transpose_b = true});
         return lazy::SumAll(lazy::Mul(Softmax(y), x));
       }},
      {"ValuesUsedManyTimes",
       [](const Tensor& x, const Tensor& w) {
         Tensor y = x;
         for (int i = 0; i < 3; ++i) y = lazy::Add(lazy::MatMul(lazy::Sigmoid(y), w), y);
         return lazy::SumAll(lazy::Mul(y, y));
       }},
      {"ViewsAndBroadcasts",
       [](const Tensor& x, const Tensor& w) {
         const Tensor heads = lazy::Transpose(lazy::Reshape(x, {4, 2, 3}), {1, 0, 2});
         const Tensor bias = lazy::Reshape(lazy::Slice(w, 0, 1, 3), {2, 1, 2, 3});
         const Tensor wide = lazy::Add(lazy::Reshape(heads, {2, 4, 1, 3}), bias);
         const Tensor joined = lazy::Concatenate({wide, lazy::Reverse(wide, 1)}, -1);
         return lazy::SumAll(lazy::Mul(joined, lazy::Exp(joined)));
       }},
      {"CrossEntropy",
       [](const Tensor& x, const Tensor& w) {
         const Tensor labels =
             Tensor::FromHost(x.context(), Literal::FromVector<int32_t>({4}, {5, 0, -100, 2}));
         return lazy::Mul(lazy::LinearCrossEntropy(NormalisedRows(x), w, labels, -100), 0.25);
       }},
      {"Attention",
       [](const Tensor& x, const Tensor& w) {
         const auto heads = [](const Tensor& y) { return lazy::Reshape(y, {1, 4, 2, 3}); };
         const Tensor mixed = lazy::Attention(heads(x), heads(lazy::MatMul(x, w)), heads(x),
                                              {.scale = 0.5, .causal = true});
         return lazy::SumAll(lazy::Mul(mixed, mixed));
       }},
      {"EmbeddingRows",
       [](const Tensor& x, const Tensor& w) {
         const Tensor ids =
             Tensor::FromHost(x.context(), Literal::FromVector<int32_t>({4}, {5, 0, 5, 2}));
         return lazy::SumAll(lazy::Mul(lazy::Take(w, ids), x));
       }},
  };
  return *programs;
}

const std::vector<float> kX = RandomValues(24, 1);
const std::vector<float> kW = RandomValues(36, 2);

struct Derivatives {
  float value;
  std::vector<float> x;
  std::vector<float> w;
};

// By the tape, in a context of its own; `mark_step` cuts between forward and backward.
Derivatives ByTape(const Program& program, const lazy::ContextOptions& options,
                   bool mark_step = false) {
  TestMachine machine(options);
  const Tensor x = FromValues(machine.context, Shape{4, 6}, kX);
  const Tensor w = FromValues(machine.context, Shape{6, 6}, kW);
  Tape tape(machine.context);
  tape.Watch(x);
  tape.Watch(w);
  const Tensor y = program.run(x, w);
  if (mark_step) {
    EXPECT_TRUE(machine.context.MarkStep().ok());
  }
  const auto gradients = tape.Gradient(y, {x, w});
  EXPECT_TRUE(gradients.ok()) << gradients.status();
  if (!gradients.ok()) return {};
  return {Values(y)[0], Values((*gradients)[0]), Values((*gradients)[1])};
}

double Evaluate(const Program& program, TestMachine& machine, const std::vector<float>& x,
                const std::vector<float>& w) {
  return Values(program.run(FromValues(machine.context, Shape{4, 6}, x),
                            FromValues(machine.context, Shape{6, 6}, w)))[0];
}

// Central differences with steps of 2^-6, which leave about 1e-4 of truncation and rounding.
std::vector<float> Differences(std::vector<float> at,
                               const std::function<double(const std::vector<float>&)>& evaluate) {
  constexpr float kStep = 1.0f / 64;
  std::vector<float> differences;
  for (float& value : at) {
    const float original = value;
    value = original + kStep;
    const double above = evaluate(at);
    value = original - kStep;
    const double below = evaluate(at);
    value = original;
    differences.push_back(static_cast<float>((above - below) / (2 * kStep)));
  }
  return differences;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << "element " << i;
  }
}

class GradientTest : public testing::TestWithParam<Program> {};

TEST_P(GradientTest, EqualsFiniteDifferences) {
  const Program& program = GetParam();
  const Derivatives derivatives = ByTape(program, {});
  TestMachine machine;
  ExpectNear(
      derivatives.x,
      Differences(kX,
                  [&](const std::vector<float>& x) { return Evaluate(program, machine, x, kW); }),
      2e-3);
  ExpectNear(
      derivatives.w,
      Differences(kW,
                  [&](const std::vector<float>& w) { return Evaluate(program, machine, kX, w); }),
      2e-3);
}

TEST_P(GradientTest, IsTheSameHoweverTheProgramIsCut) {
  const Derivatives whole = ByTape(GetParam(), {});
  for (const int max_ops : {1, 2, 3, 10}) {
    SCOPED_TRACE(max_ops);
    const Derivatives cut = ByTape(GetParam(), {.max_compound_ops = max_ops});
    EXPECT_NEAR(cut.value, whole.value, 1e-6 * std::abs(whole.value));
    ExpectNear(cut.x, whole.x, 1e-6);
    ExpectNear(cut.w, whole.w, 1e-6);
  }
  const Derivatives two_steps = ByTape(GetParam(), {}, /*mark_step=*/true);
  ExpectNear(two_steps.x, whole.x, 1e-6);
  ExpectNear(two_steps.w, whole.w, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Programs, GradientTest, testing::ValuesIn(Programs()),
                         [](const auto& info) { return info.param.name; });

class TapeTest : public testing::Test {
 protected:
  Tensor Row(const std::vector<float>& values) {
    return FromValues(machine_.context, Shape{static_cast<int64_t>(values.size())}, values);
  }

  TestMachine machine_;
};

TEST_F(TapeTest, UnreachedLeavesHaveZeros) {
  const Tensor x = Row({1, 2}), unused = Row({3, 4, 5});
  Tape tape(machine_.context);
  tape.Watch(x);
  tape.Watch(unused);
  const Tensor y = lazy::SumAll(x);
  EXPECT_THAT(Values((*tape.Gradient(y, {unused}))[0]), ElementsAre(0, 0, 0));
}

TEST_F(TapeTest, TheSeedMayBeGiven) {
  const Tensor x = Row({1, 2, 3});
  Tape tape(machine_.context);
  tape.Watch(x);
  const Tensor y = lazy::Mul(x, x);
  EXPECT_THAT(Values((*tape.Gradient(y, {x}, Row({1, 10, 100})))[0]), ElementsAre(2, 40, 600));
}

TEST_F(TapeTest, AWatchedValueInTheMiddleHasAGradientToo) {
  const Tensor x = Row({1, 2});
  Tape tape(machine_.context);
  tape.Watch(x);
  const Tensor middle = lazy::Mul(x, 3);
  tape.Watch(middle);
  const Tensor y = lazy::SumAll(lazy::Mul(middle, middle));
  const auto gradients = tape.Gradient(y, {x, middle});
  EXPECT_THAT(Values((*gradients)[0]), ElementsAre(18, 36));
  EXPECT_THAT(Values((*gradients)[1]), ElementsAre(6, 12));
}

TEST_F(TapeTest, NothingFlowsThroughIntegersAndComparisons) {
  const Tensor x = Row({1.5, -2.5});
  Tape tape(machine_.context);
  tape.Watch(x);
  const Tensor whole = lazy::Convert(lazy::Convert(x, DType::kI32), DType::kF32);
  const Tensor positive = lazy::GreaterEqual(x, lazy::Mul(x, 0));
  const Tensor y = lazy::SumAll(lazy::Select(positive, lazy::Mul(x, whole), lazy::Mul(x, 5)));
  EXPECT_THAT(Values((*tape.Gradient(y, {x}))[0]), ElementsAre(1, 5));
}

TEST_F(TapeTest, AnOpWithoutDerivativeIsNamed) {
  const Tensor x = Row({1, 2});
  Tape tape(machine_.context);
  tape.Watch(x);
  const Tensor y = lazy::SumAll(lazy::Apply1("silu_grad", {x, x}));
  const absl::Status status = tape.Gradient(y, {x}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("silu_grad"));
}

TEST_F(TapeTest, TheInnermostTapeListens) {
  const Tensor x = Row({3});
  Tape outer(machine_.context);
  outer.Watch(x);
  Tensor inner_gradient;
  {
    Tape inner(machine_.context);
    inner.Watch(x);
    const Tensor y = lazy::Mul(x, x);
    inner_gradient = (*inner.Gradient(y, {x}))[0];
  }
  EXPECT_EQ(machine_.context.listener(), &outer);
  EXPECT_THAT(Values(inner_gradient), ElementsAre(6));
  const Tensor z = lazy::Mul(x, 2);
  EXPECT_THAT(Values((*outer.Gradient(z, {x}))[0]), ElementsAre(2));
}

TEST_F(TapeTest, ErrorsOfTheProgramComeOut) {
  const Tensor x = Row({1, 2});
  Tape tape(machine_.context);
  tape.Watch(x);
  const Tensor y = lazy::SumAll(lazy::Add(x, Row({1, 2, 3})));
  EXPECT_EQ(tape.Gradient(y, {x}).status(), machine_.context.status());
  EXPECT_EQ(machine_.context.status().code(), absl::StatusCode::kInvalidArgument);
}

// What stays in memory when a step is marked after `forward` of a 1 KiB tensor, the tensor aside.
int64_t KeptBytes(const std::function<Tensor(const Tensor&)>& forward) {
  TestMachine machine;
  const Tensor x = FromValues(machine.context, Shape{256}, RandomValues(256, 3));
  Tape tape(machine.context);
  tape.Watch(x);
  const Tensor y = lazy::SumAll(forward(x));
  EXPECT_TRUE(machine.context.MarkStep().ok());
  const int64_t kept_bytes = machine.device.memory_stats().persistent_bytes - 1024 - 4;
  const auto gradient = tape.Gradient(y, {x});
  EXPECT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_TRUE(machine.context.MarkStep().ok());
  return kept_bytes;
}

TEST(TapeMemoryTest, OnlyWhatSomeRuleReadsIsKept) {
  // Rules that need types only.
  EXPECT_EQ(KeptBytes([](const Tensor& x) {
              const Tensor y = lazy::Neg(lazy::Add(x, x));
              return lazy::Reshape(lazy::Transpose(lazy::Reshape(y, {16, 16}), {1, 0}), {256});
            }),
            0);
  EXPECT_EQ(KeptBytes([](const Tensor& x) {
              return lazy::Concatenate({x, lazy::Sub(x, x)}, 0);
            }),
            0);
  EXPECT_EQ(KeptBytes([](const Tensor& x) {
              return lazy::Convert(lazy::Convert(lazy::Slice(x, 0, 3, 77), DType::kBF16),
                                   DType::kF32);
            }),
            0);
  // The result alone.
  EXPECT_EQ(KeptBytes([](const Tensor& x) { return lazy::Exp(lazy::Neg(x)); }), 1024);
  EXPECT_EQ(KeptBytes([](const Tensor& x) { return lazy::Tanh(lazy::Sigmoid(lazy::Neg(x))); }),
            2048);
  // The operand alone.
  EXPECT_EQ(KeptBytes([](const Tensor& x) { return lazy::Silu(lazy::Neg(x)); }), 1024);
}

TEST(TapeMemoryTest, ValuesGoAsTheBackwardPassMovesPastThem) {
  TestMachine machine({.max_compound_ops = 1});
  const Tensor x = FromValues(machine.context, Shape{256}, RandomValues(256, 3));
  Tape tape(machine.context);
  tape.Watch(x);
  Tensor y = x;
  for (int i = 0; i < 10; ++i) y = lazy::Tanh(y);
  y = lazy::SumAll(y);
  const auto gradient = tape.Gradient(y, {x});
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_EQ(machine.device.memory_stats().persistent_bytes, 2 * 1024 + 4);
}

class CheckpointTest : public testing::Test {
 protected:
  // Three segments, each x -> tanh(x . w) . w; `count` of them checkpointed.
  struct Outcome {
    std::vector<float> x, w;
    int64_t kept_bytes;  // at the cut between forward and backward
    std::vector<lazy::RecordingProvider::Request> requests;
  };
  static Outcome Run(bool checkpointed, const lazy::ContextOptions& options, bool mark_step) {
    TestMachine machine(options);
    const Tensor x = FromValues(machine.context, Shape{32, 8}, RandomValues(256, 5));
    const Tensor w = FromValues(machine.context, Shape{8, 8}, RandomValues(64, 6));
    Tape tape(machine.context);
    tape.Watch(x);
    tape.Watch(w);
    const auto segment = [w](absl::Span<const Tensor> inputs) {
      return std::vector<Tensor>{
          lazy::MatMul(lazy::Tanh(lazy::Tanh(lazy::MatMul(inputs[0], w))), w)};
    };
    Tensor y = x;
    for (int i = 0; i < 3; ++i)
      y = checkpointed ? tape.Checkpoint(segment, {y})[0] : segment({y})[0];
    y = lazy::SumAll(lazy::Mul(y, y));
    if (mark_step) {
      EXPECT_TRUE(machine.context.MarkStep().ok());
    }
    const int64_t kept_bytes = machine.device.memory_stats().persistent_bytes;
    const auto gradients = tape.Gradient(y, {x, w});
    EXPECT_TRUE(gradients.ok()) << gradients.status();
    if (!gradients.ok()) return {};
    Outcome outcome{Values((*gradients)[0]), Values((*gradients)[1]), kept_bytes, {}};
    outcome.requests = machine.recipes.requests();
    return outcome;
  }
};

TEST_F(CheckpointTest, GradientsAreTheSame) {
  const Outcome plain = Run(false, {}, false);
  for (const int max_ops : {0, 1, 4}) {
    for (const bool mark_step : {false, true}) {
      const Outcome outcome = Run(true, {.max_compound_ops = max_ops}, mark_step);
      ExpectNear(outcome.x, plain.x, 1e-6);
      ExpectNear(outcome.w, plain.w, 1e-6);
    }
  }
}

TEST_F(CheckpointTest, ValuesInsideAreComputedAgainInsteadOfKept) {
  constexpr int64_t kTensorBytes = 32 * 8 * 4;
  const Outcome plain = Run(false, {}, true);
  const Outcome checkpointed = Run(true, {}, true);
  // Per segment two tanh results, and the input for the first product; the last result for the
  // square.
  EXPECT_EQ(plain.kept_bytes - checkpointed.kept_bytes, 3 * 2 * kTensorBytes);
  const ir::Graph& forward = checkpointed.requests[0].graph;
  const ir::Graph& backward = checkpointed.requests[1].graph;
  EXPECT_EQ(lazy::CountOps(forward, "tanh"), 6);
  EXPECT_EQ(lazy::CountOps(forward, "barrier"), 0);
  EXPECT_EQ(lazy::CountOps(backward, "tanh"), 6);
  EXPECT_EQ(lazy::CountOps(backward, "barrier"), 3);
}

TEST_F(CheckpointTest, TheSecondRunWaitsForItsGradient) {
  const Outcome outcome = Run(true, {}, false);
  const ir::Graph& graph = outcome.requests[0].graph;
  for (const ir::Node& node : graph.nodes()) {
    if (node.op->name != "barrier") continue;
    ASSERT_EQ(node.operands.size(), 2u);
    // The barrier's second operand is a gradient: not the segment's input, and of its shape.
    EXPECT_NE(node.operands[0], node.operands[1]);
    EXPECT_EQ(graph.type(node.operands[1]).shape, (Shape{32, 8}));
  }
  EXPECT_EQ(lazy::CountOps(graph, "barrier"), 3);
  EXPECT_EQ(lazy::CountOps(graph, "tanh"), 12);
}

TEST_F(TapeTest, ASegmentMayHaveIntegerInputsAndSeveralOutputs) {
  const Tensor table = Row({1, 2, 3});
  const Tensor ids = Tensor::FromHost(machine_.context, Literal::FromVector<int32_t>({2}, {2, 0}));
  Tape tape(machine_.context);
  tape.Watch(table);
  const auto outputs = tape.Checkpoint(
      [table](absl::Span<const Tensor> inputs) {
        const Tensor rows = lazy::Take(table, inputs[0]);
        return std::vector<Tensor>{lazy::Mul(rows, rows), lazy::Exp(rows)};
      },
      {ids});
  const Tensor y = lazy::SumAll(outputs[0]);
  EXPECT_THAT(Values((*tape.Gradient(y, {table}))[0]), ElementsAre(2, 0, 6));
}

}  // namespace
}  // namespace trencadis::autograd
