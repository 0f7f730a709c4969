// Attention forward and backward at training and decoding shapes.
#include <benchmark/benchmark.h>

#include <cmath>

#include "runtime/codegen/attention_testing.h"

namespace trencadis::codegen {
namespace {

// Arguments: B, T, S, H, K, D, causal, bf16, backward. S > T: the queries are the last positions.
void Attention(benchmark::State& state) {
  AttentionSpec spec;
  spec.batch = state.range(0);
  spec.queries = state.range(1);
  spec.keys = state.range(2);
  spec.heads = state.range(3);
  spec.kv_heads = state.range(4);
  spec.head_dim = state.range(5);
  spec.causal = state.range(6) != 0;
  spec.dtype = state.range(7) != 0 ? DType::kBF16 : DType::kF32;
  spec.backward = state.range(8) != 0;
  spec.has_offset = spec.keys > spec.queries;
  spec.scale = 1 / std::sqrt(static_cast<double>(spec.head_dim));
  const Target target = Target::Host();
  auto runner = AttentionRunner::Create(spec, target);
  if (!runner.ok()) return state.SkipWithError(runner.status().ToString().c_str());
  AttentionProblem problem(spec);
  problem.offset.Set(0, static_cast<double>(spec.keys - spec.queries));
  for (int64_t i = 0; i < problem.out.elements(); ++i) problem.out.Set(i, 0.1);
  for (int64_t i = 0; i < problem.lse.elements(); ++i) problem.lse.Set(i, 6);
  for (auto _ : state) runner->Run(problem, target.threads);
  const KernelCost cost = AttentionCost(spec);
  using benchmark::Counter;
  state.counters["GFLOP/s"] = Counter(cost.flops / 1e9, Counter::kIsIterationInvariantRate);
  state.counters["GB/s"] = Counter(cost.bytes / 1e9, Counter::kIsIterationInvariantRate);
}

// Arguments: bf16, backward.
void Compile(benchmark::State& state) {
  AttentionSpec spec;
  spec.batch = 4;
  spec.queries = spec.keys = 512;
  spec.heads = 9;
  spec.kv_heads = 3;
  spec.causal = true;
  spec.dtype = state.range(0) != 0 ? DType::kBF16 : DType::kF32;
  spec.backward = state.range(1) != 0;
  size_t object_bytes = 0;
  for (auto _ : state) {
    const auto code = CompileAttention(spec, Target::Host(), "attention");
    if (!code.ok()) return state.SkipWithError(code.status().ToString().c_str());
    object_bytes = code->object.size();
  }
  state.counters["object_bytes"] = static_cast<double>(object_bytes);
}

void Shapes(benchmark::internal::Benchmark* bench) {
  for (int64_t bf16 : {0, 1}) {
    for (int64_t backward : {0, 1}) {
      bench->Args({4, 512, 512, 9, 3, 64, 1, bf16, backward});
      bench->Args({4, 384, 384, 12, 12, 64, 0, bf16, backward});
      bench->Args({1, 2048, 2048, 8, 8, 128, 1, bf16, backward});
    }
    bench->Args({1, 1, 2048, 9, 3, 64, 1, bf16, 0});
    bench->Args({8, 1, 2048, 9, 3, 64, 1, bf16, 0});
  }
}

BENCHMARK(Compile)->ArgsProduct({{0, 1}, {0, 1}})->Unit(benchmark::kMillisecond);
BENCHMARK(Attention)->Apply(Shapes)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trencadis::codegen

BENCHMARK_MAIN();
