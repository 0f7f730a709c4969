// The fused loss of SmolLM2-135M: 2048 tokens, width 576, vocabulary 49152.
#include <benchmark/benchmark.h>

#include <vector>

#include "runtime/codegen/bench_bytes.h"
#include "runtime/codegen/linear_cross_entropy.h"

namespace trencadis::codegen {
namespace {

// Arguments: bf16, mode (0 loss, 1 with dx, 2 with dx and dw).
void Loss(benchmark::State& state) {
  LinearCrossEntropySpec spec;
  spec.dtype = state.range(0) != 0 ? DType::kBF16 : DType::kF32;
  spec.rows = 2048;
  spec.width = 576;
  spec.vocabulary = 49152;
  spec.with_grad = state.range(1) > 0;
  spec.needs_dw = state.range(1) > 1;
  auto op = LinearCrossEntropy::Create(spec, Target::Host());
  if (!op.ok()) return state.SkipWithError(op.status().ToString().c_str());
  const int64_t element = ByteSize(spec.dtype);
  const BenchBytes x = AllocateBytes(spec.rows * spec.width * element);
  const BenchBytes dx = AllocateBytes(spec.rows * spec.width * element);
  const BenchBytes w = AllocateBytes(spec.vocabulary * spec.width * element);
  const BenchBytes dw = AllocateBytes(spec.needs_dw ? spec.vocabulary * spec.width * 4 : 0);
  const BenchBytes scratch = AllocateBytes((*op)->scratch_bytes());
  std::vector<float> lse(spec.rows);
  std::vector<int32_t> labels(spec.rows, 7);
  float loss_sum = 0;
  int32_t correct = 0;
  const LinearCrossEntropy::Results results = {.loss_sum = &loss_sum,
                                               .lse = lse.data(),
                                               .correct = spec.with_grad ? nullptr : &correct,
                                               .dx = dx.get(),
                                               .dw = reinterpret_cast<float*>(dw.get())};
  for (auto _ : state) {
    const absl::Status status =
        (*op)->Execute(x.get(), w.get(), labels.data(), results, scratch.get());
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
  }
  const double flops =
      2.0 * (1 + state.range(1)) * spec.rows * spec.width * static_cast<double>(spec.vocabulary);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops / 1e9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["scratch_MiB"] = static_cast<double>((*op)->scratch_bytes()) / (1 << 20);
}

BENCHMARK(Loss)->ArgsProduct({{0, 1}, {0, 1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trencadis::codegen

BENCHMARK_MAIN();
