// Matrix products of Llama shapes: GFLOP/s for many rows, GB/s of weights for few.
#include <benchmark/benchmark.h>

#include "runtime/codegen/bench_bytes.h"
#include "runtime/codegen/matmul.h"

namespace trencadis::codegen {
namespace {

// Few-row products walk through copies of b that exceed every cache together.
constexpr int64_t kColdBytes = int64_t{256} << 20;

// Arguments: M, N, K, transposes (1 a, 2 b), bf16, packed.
void Product(benchmark::State& state) {
  MatMulSpec spec;
  spec.m = state.range(0);
  spec.n = state.range(1);
  spec.k = state.range(2);
  spec.transpose_a = state.range(3) & 1;
  spec.transpose_b = state.range(3) & 2;
  const DType dtype = state.range(4) != 0 ? DType::kBF16 : DType::kF32;
  spec.a_dtype = spec.b_dtype = spec.c_dtype = dtype;
  spec.packed_b = state.range(5) != 0;
  auto matmul = MatMul::Create(spec, Target::Host());
  if (!matmul.ok()) return state.SkipWithError(matmul.status().ToString().c_str());
  const int64_t plain_bytes = spec.n * spec.k * ByteSize(dtype);
  const int64_t b_bytes = spec.packed_b ? (*matmul)->packed_b_bytes() : plain_bytes;
  const int64_t copies = spec.m <= 64 ? kColdBytes / b_bytes + 1 : 1;
  const BenchBytes a = AllocateBytes(spec.m * spec.k * ByteSize(dtype));
  const BenchBytes b = AllocateBytes(b_bytes * copies);
  const BenchBytes c = AllocateBytes(spec.m * spec.n * ByteSize(dtype));
  const BenchBytes scratchpad = AllocateBytes((*matmul)->scratchpad_bytes());
  int64_t copy = 0;
  for (auto _ : state) {
    const absl::Status status =
        (*matmul)->Execute(a.get(), b.get() + copy * b_bytes, c.get(), {}, scratchpad.get());
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
    copy = (copy + 1) % copies;
  }
  const double flops = 2.0 * spec.m * spec.n * spec.k;
  using benchmark::Counter;
  state.counters["GFLOP/s"] = Counter(flops / 1e9, Counter::kIsIterationInvariantRate);
  state.counters["GB/s_of_b"] = Counter(plain_bytes / 1e9, Counter::kIsIterationInvariantRate);
  state.SetLabel(spec.ToString());
}

// SmolLM2-135M, 2048 tokens: projections, their activation gradients, LoRA, weight gradients.
void ManyRows(benchmark::internal::Benchmark* bench) {
  constexpr int64_t kTokens = 2048;
  constexpr int64_t kLayers[][2] = {{576, 576},  {192, 576}, {1536, 576},
                                    {576, 1536}, {8, 576},   {576, 8}};
  for (const auto& [n, k] : kLayers) {
    for (int64_t bf16 : {0, 1}) {
      for (int64_t packed : {0, 1}) {
        bench->Args({kTokens, n, k, 2, bf16, packed});
        bench->Args({kTokens, k, n, 0, bf16, packed});
      }
      bench->Args({n, k, kTokens, 1, bf16, 0});
    }
  }
}

void FewRows(benchmark::internal::Benchmark* bench) {
  constexpr int64_t kLayers[][2] = {{576, 576}, {1536, 576}, {576, 1536}, {49152, 576}};
  for (const auto& [n, k] : kLayers) {
    for (int64_t m : {1, 4, 8, 16, 32, 128}) {
      for (int64_t bf16 : {0, 1}) {
        for (int64_t packed : {0, 1}) bench->Args({m, n, k, 2, bf16, packed});
      }
    }
  }
}

BENCHMARK(Product)->Apply(ManyRows)->Apply(FewRows)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace trencadis::codegen

BENCHMARK_MAIN();
