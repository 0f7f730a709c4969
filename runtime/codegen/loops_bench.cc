// Memory-bound fused loops against the machine's copy bandwidth: bytes_per_second counts every
// operand and result once. Threads: OpenMP's, as a step runs.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/status.h"
#include "runtime/codegen/fusion.h"
#include "runtime/codegen/loaded_kernels.h"
#include "runtime/codegen/parallel_run.h"
#include "runtime/ir/text.h"
#include "runtime/ops/registry.h"

namespace trencadis::codegen {
namespace {

constexpr absl::string_view kAdd = R"(graph {
  %0 = input() : TYPE[R,C]
  %1 = input() : TYPE[R,C]
  %2 = add(%0, %1)
  return %2
})";

constexpr absl::string_view kSiluMul = R"(graph {
  %0 = input() : TYPE[R,C]
  %1 = input() : TYPE[R,C]
  %2 = silu(%0)
  %3 = mul(%2, %1)
  return %3
})";

constexpr absl::string_view kRmsNorm = R"(graph {
  %x = input() : TYPE[R,C]
  %w = input() : TYPE[C]
  %wide = convert(%x){dtype=f32}
  %square = mul(%wide, %wide)
  %sum = reduce_sum(%square){axes=[1], keep_dims=true}
  %n = constant(){value=f32[R,1] {splat 0.001}}
  %mean = mul(%sum, %n)
  %inverse = rsqrt(%mean)
  %scale = broadcast(%inverse){axes=[0, 1], shape=[R, C]}
  %normal = mul(%wide, %scale)
  %narrow = convert(%normal){dtype=TYPE}
  %weight = broadcast(%w){axes=[1], shape=[R, C]}
  %y = mul(%narrow, %weight)
  return %y
})";

constexpr absl::string_view kSoftmax = R"(graph {
  %0 = input() : TYPE[R,C]
  %1 = reduce_max(%0){axes=[1], keep_dims=true}
  %2 = broadcast(%1){axes=[0, 1], shape=[R, C]}
  %3 = sub(%0, %2)
  %4 = exp(%3)
  %5 = reduce_sum(%4){axes=[1], keep_dims=true}
  %6 = broadcast(%5){axes=[0, 1], shape=[R, C]}
  %7 = div(%4, %6)
  return %7
})";

constexpr absl::string_view kColumnSum = R"(graph {
  %0 = input() : TYPE[R,C]
  %1 = reduce_sum(%0){axes=[0]}
  return %1
})";

constexpr absl::string_view kSquareSum = R"(graph {
  %0 = input() : TYPE[R,C]
  %1 = mul(%0, %0)
  %2 = reduce_sum(%1){axes=[0, 1]}
  return %2
})";

constexpr absl::string_view kTranspose = R"(graph {
  %0 = input() : TYPE[R,C]
  %1 = transpose(%0){permutation=[1, 0]}
  return %1
})";

constexpr absl::string_view kAdamW = R"(graph {
  %p = input() : f32[R,C]
  %m = input() : f32[R,C]
  %v = input() : f32[R,C]
  %g = input() : TYPE[R,C]
  %lr = input() : f32[]
  %grad = convert(%g){dtype=f32}
  %b1 = constant(){value=f32[R,C] {splat 0.9}}
  %c1 = constant(){value=f32[R,C] {splat 0.1}}
  %b2 = constant(){value=f32[R,C] {splat 0.999}}
  %c2 = constant(){value=f32[R,C] {splat 0.001}}
  %eps = constant(){value=f32[R,C] {splat 1e-08}}
  %m1 = mul(%m, %b1)
  %m2 = mul(%grad, %c1)
  %m3 = add(%m1, %m2)
  %v1 = mul(%v, %b2)
  %gg = mul(%grad, %grad)
  %v2 = mul(%gg, %c2)
  %v3 = add(%v1, %v2)
  %root = sqrt(%v3)
  %denominator = add(%root, %eps)
  %ratio = div(%m3, %denominator)
  %rate = broadcast(%lr){axes=[], shape=[R, C]}
  %step = mul(%ratio, %rate)
  %p3 = sub(%p, %step)
  return %p3, %m3, %v3
})";

// Buffers of a body, each output in place over the first free input it may take.
struct Buffers {
  std::vector<std::unique_ptr<char[]>> owned;
  std::vector<void*> pointers;
};

constexpr int64_t kAlignment = 64;

void* Allocate(Buffers& buffers, int64_t bytes) {
  buffers.owned.push_back(std::make_unique<char[]>(bytes + kAlignment));
  const auto address = reinterpret_cast<uintptr_t>(buffers.owned.back().get());
  return buffers.owned.back().get() + (kAlignment - address % kAlignment) % kAlignment;
}

Buffers MakeBuffers(const ir::Graph& body, const KernelCode& kernel, bool in_place) {
  Buffers buffers;
  for (int i = 0; i < body.num_inputs(); ++i) {
    buffers.pointers.push_back(Allocate(buffers, body.type(body.input(i)).byte_size()));
  }
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    const int input = static_cast<int>(i);
    const bool alias = in_place && CanAlias(body, input, static_cast<int>(i));
    buffers.pointers.push_back(alias ? buffers.pointers[i]
                                     : Allocate(buffers, body.type(body.outputs()[i]).byte_size()));
  }
  buffers.pointers.push_back(Allocate(buffers, kernel.shared_scratch_bytes));
  return buffers;
}

void BM_Body(benchmark::State& state, absl::string_view text, const char* type, bool in_place) {
  const std::string source = absl::StrReplaceAll(
      text,
      {{"TYPE", type}, {"R", absl::StrCat(state.range(0))}, {"C", absl::StrCat(state.range(1))}});
  const ir::Graph body = ir::ParseGraph(source, ops::FindOp).value();
  const Target target = Target::Host();
  const KernelCode kernel = CompileFusion(body, target, "kernel").value();
  const auto loaded = LoadedKernels::Load({kernel.object}).value();
  Buffers buffers = MakeBuffers(body, kernel, in_place);
  const int threads = omp_get_max_threads();
  void* scratch = Allocate(buffers, threads * kernel.scratch_bytes_per_thread);
  std::vector<KernelFn> stages;
  for (const KernelStage& stage : kernel.stages) {
    stages.push_back(loaded->Find(stage.symbol).value());
  }
  for (auto _ : state) {
    for (size_t i = 0; i < stages.size(); ++i) {
      ParallelRun(stages[i], kernel.stages[i].units, kernel.stages[i].grain, threads,
                  buffers.pointers.data(), scratch, kernel.scratch_bytes_per_thread);
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(kernel.cost.bytes) * state.iterations());
}

// Time to turn a body into object bytes, and to load those.
void BM_Compile(benchmark::State& state, absl::string_view text) {
  const std::string source =
      absl::StrReplaceAll(text, {{"TYPE", "bf16"}, {"R", "64"}, {"C", "576"}});
  const ir::Graph body = ir::ParseGraph(source, ops::FindOp).value();
  const Target target = Target::Host();
  for (auto _ : state) {
    benchmark::DoNotOptimize(CompileFusion(body, target, "kernel").value());
  }
}

void BM_Load(benchmark::State& state, absl::string_view text) {
  const std::string source =
      absl::StrReplaceAll(text, {{"TYPE", "bf16"}, {"R", "2048"}, {"C", "576"}});
  const ir::Graph body = ir::ParseGraph(source, ops::FindOp).value();
  const KernelCode kernel = CompileFusion(body, Target::Host(), "kernel").value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(LoadedKernels::Load({kernel.object}).value());
  }
}

// What the machine does at best: memcpy on every thread.
void BM_Copy(benchmark::State& state) {
  const int64_t bytes = state.range(0) * state.range(1) * 4;
  Buffers buffers;
  char* from = static_cast<char*>(Allocate(buffers, bytes));
  char* to = static_cast<char*>(Allocate(buffers, bytes));
  for (auto _ : state) {
#pragma omp parallel
    {
      const int64_t threads = omp_get_num_threads();
      const int64_t begin = bytes * omp_get_thread_num() / threads;
      const int64_t end = bytes * (omp_get_thread_num() + 1) / threads;
      std::memcpy(to + begin, from + begin, end - begin);
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * bytes * state.iterations());
}

void Register(const char* name, absl::string_view text, bool in_place = false) {
  for (const char* type : {"f32", "bf16"}) {
    benchmark::RegisterBenchmark(absl::StrCat(name, "/", type).c_str(), BM_Body, text, type,
                                 in_place)
        ->Args({2048, 576})
        ->Args({2048, 1536})
        ->Args({8192, 1536})
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
}

}  // namespace

void RegisterAll() {
  benchmark::RegisterBenchmark("copy", BM_Copy)
      ->Args({2048, 576})
      ->Args({2048, 1536})
      ->Args({8192, 1536})
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
  for (const auto& [name, text] :
       {std::pair{"add", kAdd}, {"softmax", kSoftmax}, {"rms_norm", kRmsNorm}, {"adamw", kAdamW}}) {
    benchmark::RegisterBenchmark(absl::StrCat("compile/", name).c_str(), BM_Compile, text)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(absl::StrCat("load/", name).c_str(), BM_Load, text)
        ->Unit(benchmark::kMicrosecond);
  }
  Register("add", kAdd);
  Register("silu_mul", kSiluMul);
  Register("rms_norm", kRmsNorm);
  Register("softmax", kSoftmax);
  Register("column_sum", kColumnSum);
  Register("square_sum", kSquareSum);
  Register("transpose", kTranspose);
  Register("adamw", kAdamW, /*in_place=*/true);
}

}  // namespace trencadis::codegen

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  trencadis::codegen::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
