#include "runtime/codegen/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/attention_testing.h"

namespace trencadis::codegen {
namespace {

std::string Describe(const AttentionSpec& s, const Target& target) {
  return absl::StrCat(DTypeName(s.dtype), " B", s.batch, " T", s.queries, " S", s.keys, " H",
                      s.heads, " K", s.kv_heads, " D", s.head_dim, s.causal ? " causal" : "",
                      " window ", s.window, s.has_segments ? " segments" : "",
                      s.has_offset ? " offset" : "", " on ", target.cpu);
}

// ||got - want|| <= tolerance * ||want||, and no NaN. Terms are of size 1, so where they cancel to
// less the rounding of the terms remains.
void ExpectClose(const TestTensor& got, const TestTensor& want, double tolerance,
                 const char* name) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < want.elements(); ++i) {
    if (std::isinf(want.Get(i))) {
      EXPECT_EQ(got.Get(i), want.Get(i)) << name << " " << i;
      continue;
    }
    difference += std::pow(got.Get(i) - want.Get(i), 2);
    norm += std::pow(want.Get(i), 2);
  }
  const double terms = 0.1 * std::sqrt(static_cast<double>(want.elements()));
  EXPECT_LE(std::sqrt(difference), tolerance * (std::sqrt(norm) + terms)) << name;
}

// bf16: the result's own rounding (2^-9 relative) and, in the products, that of probabilities.
double Tolerance(DType dtype) { return dtype == DType::kF32 ? 2e-6 : 6e-3; }

// The runner of a spec, compiled once per process.
AttentionRunner& RunnerOf(const AttentionSpec& spec, const Target& target) {
  static auto* runners = new std::map<std::string, AttentionRunner>;
  const std::string key =
      absl::StrCat(Describe(spec, target), " scale ", spec.scale, " ", spec.backward);
  auto found = runners->find(key);
  if (found == runners->end()) {
    auto runner = AttentionRunner::Create(spec, target);
    TRENCADIS_CHECK(runner.ok());
    found = runners->emplace(key, *std::move(runner)).first;
  }
  return found->second;
}

using Prepare = void (*)(AttentionProblem&);

void ExpectRight(AttentionSpec spec, const Target& target, Prepare prepare = nullptr) {
  SCOPED_TRACE(Describe(spec, target));
  AttentionProblem got(spec), want(spec);
  if (prepare != nullptr) {
    prepare(got);
    prepare(want);
  }
  RunnerOf(spec, target).Run(got, 2);
  ReferenceAttention(want);
  ExpectClose(got.out, want.out, Tolerance(spec.dtype), "out");
  ExpectClose(got.lse, want.lse, 3e-6, "lse");

  got.spec.backward = want.spec.backward = spec.backward = true;
  RunnerOf(spec, target).Run(got, 2);
  ReferenceAttentionGrad(want);
  const double tolerance = 2 * Tolerance(spec.dtype);
  ExpectClose(got.dq, want.dq, tolerance, "dq");
  ExpectClose(got.dk, want.dk, tolerance, "dk");
  ExpectClose(got.dv, want.dv, tolerance, "dv");
}

AttentionSpec Spec(int64_t batch, int64_t queries, int64_t keys, int64_t heads, int64_t kv_heads,
                   int64_t width, DType dtype) {
  AttentionSpec spec;
  spec.batch = batch;
  spec.queries = queries;
  spec.keys = keys;
  spec.heads = heads;
  spec.kv_heads = kv_heads;
  spec.head_dim = width;
  spec.dtype = dtype;
  spec.scale = 1 / std::sqrt(static_cast<double>(width));
  return spec;
}

// Documents of different lengths, and padding (-1) at the end of each row.
void PackDocuments(AttentionProblem& p) {
  for (int64_t b = 0; b < p.spec.batch; ++b) {
    for (int64_t t = 0; t < p.spec.queries; ++t) {
      const bool padding = t >= p.spec.queries - 5 * b;
      p.q_segments.Set(b * p.spec.queries + t, padding ? -1 : t / (29 + 90 * b));
    }
    for (int64_t s = 0; s < p.spec.keys; ++s) {
      const bool padding = s >= p.spec.keys - 5 * b;
      p.kv_segments.Set(b * p.spec.keys + s, padding ? -2 : s / (29 + 90 * b));
    }
  }
}

class AttentionTest : public testing::TestWithParam<std::tuple<std::string, DType>> {
 protected:
  Target target() const {
    const std::string& cpu = std::get<0>(GetParam());
    return cpu == "host" ? Target::Host() : *Target::HostWithCpu(cpu);
  }
  DType dtype() const { return std::get<1>(GetParam()); }
};

TEST_P(AttentionTest, Shapes) {
  constexpr int64_t kShapes[][6] = {
      {1, 1, 1, 1, 1, 16},    {2, 17, 17, 2, 1, 24},  {1, 100, 100, 6, 2, 64},
      {2, 33, 70, 4, 4, 8},   {1, 65, 65, 3, 1, 128}, {1, 20, 131, 5, 1, 80},
      {1, 9, 200, 2, 2, 256}, {1, 50, 50, 2, 1, 5},   {2, 2, 300, 4, 2, 24}};
  bool causal = false;
  for (const auto& [b, t, s, h, k, d] : kShapes) {
    AttentionSpec spec = Spec(b, t, s, h, k, d, dtype());
    causal = !causal;
    spec.causal = causal;
    ExpectRight(spec, target());
  }
}

TEST_P(AttentionTest, Window) {
  for (int64_t window : {1, 7, 100}) {
    AttentionSpec spec = Spec(1, 150, 150, 3, 1, 32, dtype());
    spec.causal = window != 7;
    spec.window = window;
    ExpectRight(spec, target());
  }
}

TEST_P(AttentionTest, Segments) {
  for (bool causal : {false, true}) {
    AttentionSpec spec = Spec(3, 130, 130, 2, 1, 16, dtype());
    spec.causal = causal;
    spec.has_segments = true;
    ExpectRight(spec, target(), PackDocuments);
    ExpectRight(spec, target(), [](AttentionProblem&) {});  // one document: no mask anywhere
  }
}

TEST_P(AttentionTest, OffsetBoundsTheKeys) {
  for (int64_t queries : {1, 5, 40}) {
    AttentionSpec spec = Spec(2, queries, 150, 6, 2, 64, dtype());
    spec.causal = true;
    spec.has_offset = true;
    // What lies behind the last visible key may be anything, also NaN.
    ExpectRight(spec, target(), [](AttentionProblem& p) {
      p.offset.Set(0, 90);
      const int64_t per_key = p.spec.kv_heads * p.spec.head_dim;
      for (int64_t b = 0; b < p.spec.batch; ++b) {
        for (int64_t i = (90 + p.spec.queries) * per_key; i < p.spec.keys * per_key; ++i) {
          p.k.Set(b * p.spec.keys * per_key + i, std::nan(""));
          p.v.Set(b * p.spec.keys * per_key + i, std::nan(""));
        }
      }
    });
    // Beyond all keys, and before them: the first queries see nothing.
    ExpectRight(spec, target(), [](AttentionProblem& p) { p.offset.Set(0, 1000); });
    ExpectRight(spec, target(), [](AttentionProblem& p) { p.offset.Set(0, -3); });
    spec.window = 20;
    spec.has_segments = true;
    ExpectRight(spec, target(), [](AttentionProblem& p) { p.offset.Set(0, 77); });
  }
}

TEST_P(AttentionTest, ManyHeadsShareAKey) {
  ExpectRight(Spec(1, 7, 70, 64, 1, 16, dtype()), target());
  ExpectRight(Spec(1, 3, 70, 106, 2, 16, dtype()), target());
}

TEST_P(AttentionTest, LargeScoresDoNotOverflow) {
  AttentionSpec spec = Spec(1, 80, 80, 1, 1, 16, dtype());
  spec.scale = 20;
  spec.causal = true;
  SCOPED_TRACE(Describe(spec, target()));
  AttentionProblem p(spec);
  auto forward = AttentionRunner::Create(spec, target());
  ASSERT_TRUE(forward.ok()) << forward.status();
  forward->Run(p, 1);
  for (int64_t i = 0; i < p.out.elements(); ++i) ASSERT_TRUE(std::isfinite(p.out.Get(i)));
  for (int64_t i = 0; i < p.lse.elements(); ++i) ASSERT_TRUE(std::isfinite(p.lse.Get(i)));
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionTest,
                         testing::Combine(testing::Values("host", "x86-64-v3", "x86-64-v2"),
                                          testing::Values(DType::kF32, DType::kBF16)));

TEST(Attention, ThreadsGiveTheSameBits) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    AttentionSpec spec = Spec(2, 200, 200, 6, 2, 32, dtype);
    spec.causal = true;
    AttentionProblem one(spec), three(spec);
    auto forward = AttentionRunner::Create(spec, Target::Host());
    ASSERT_TRUE(forward.ok()) << forward.status();
    forward->Run(one, 1);
    forward->Run(three, 3);
    EXPECT_TRUE(one.out.SameBytes(three.out));
    EXPECT_TRUE(one.lse.SameBytes(three.lse));
    one.spec.backward = three.spec.backward = spec.backward = true;
    auto backward = AttentionRunner::Create(spec, Target::Host());
    ASSERT_TRUE(backward.ok()) << backward.status();
    backward->Run(one, 1);
    backward->Run(three, 3);
    EXPECT_TRUE(one.dq.SameBytes(three.dq));
    EXPECT_TRUE(one.dk.SameBytes(three.dk));
    EXPECT_TRUE(one.dv.SameBytes(three.dv));
  }
}

TEST(Attention, EmptyTensors) {
  for (bool backward : {false, true}) {
    for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{0, 5}, {5, 0}}) {
      AttentionSpec spec = Spec(1, queries, keys, 2, 1, 16, DType::kF32);
      spec.backward = backward;
      AttentionProblem p(spec);
      if (backward) {
        for (int64_t i = 0; i < p.out.elements(); ++i) p.out.Set(i, 0);
        for (int64_t i = 0; i < p.lse.elements(); ++i) p.lse.Set(i, -INFINITY);
      }
      auto runner = AttentionRunner::Create(spec, Target::Host());
      ASSERT_TRUE(runner.ok()) << runner.status();
      runner->Run(p, 2);
      for (TestTensor* result : {backward ? &p.dq : &p.out, backward ? &p.dk : &p.out}) {
        for (int64_t i = 0; i < result->elements(); ++i) EXPECT_EQ(result->Get(i), 0);
      }
    }
  }
}

TEST(Attention, CostCountsWhatTheMasksLeave) {
  AttentionSpec spec = Spec(2, 100, 100, 3, 1, 10, DType::kF32);
  EXPECT_EQ(AttentionCost(spec).flops, 2 * 2.0 * 2 * 3 * 10 * 100 * 100);
  spec.causal = true;
  EXPECT_EQ(AttentionCost(spec).flops, 2 * 2.0 * 2 * 3 * 10 * 5050);
  spec.window = 1;
  spec.backward = true;
  EXPECT_EQ(AttentionCost(spec).flops, 5 * 2.0 * 2 * 3 * 10 * 100);
}

TEST(Attention, RefusesWhatItCannotDo) {
  AttentionSpec spec = Spec(1, 4, 4, 3, 2, 16, DType::kF32);
  EXPECT_THAT(std::string(CompileAttention(spec, Target::Host(), "a").status().message()),
              testing::HasSubstr("heads 3 over 2"));
  spec.heads = 4;
  spec.scale = -1;
  EXPECT_FALSE(CompileAttention(spec, Target::Host(), "a").ok());
  spec.scale = 1;
  spec.dtype = DType::kI32;
  EXPECT_FALSE(CompileAttention(spec, Target::Host(), "a").ok());
}

}  // namespace
}  // namespace trencadis::codegen
