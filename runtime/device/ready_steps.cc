#include "runtime/device/ready_steps.h"

#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "runtime/base/status.h"
#include "runtime/codegen/linear_cross_entropy.h"
#include "runtime/codegen/parallel_run.h"
#include "runtime/core/dtype.h"
#include "runtime/kernels/builtins.h"

namespace trencadis {
namespace {

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class ReadyKernel : public ReadyStep {
 public:
  struct Stage {
    codegen::KernelFn function;
    int64_t units;
    int64_t grain;
  };
  ReadyKernel(const recipe::KernelStep& step, std::vector<Stage> stages, int threads)
      : stages_(std::move(stages)),
        threads_(threads),
        thread_scratch_bytes_(step.scratch_bytes_per_thread()),
        has_shared_scratch_(step.shared_scratch_bytes() > 0),
        shared_scratch_bytes_(RoundUp(step.shared_scratch_bytes(), 64)) {}

  absl::Status Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const override {
    absl::InlinedVector<void*, 16> buffers(pointers.begin(), pointers.end());
    if (has_shared_scratch_) buffers.push_back(scratch);
    std::byte* thread_scratch = scratch == nullptr ? nullptr : scratch + shared_scratch_bytes_;
    for (const Stage& stage : stages_) {
      codegen::ParallelRun(stage.function, stage.units, stage.grain, threads_, buffers.data(),
                           thread_scratch, thread_scratch_bytes_);
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Stage> stages_;
  int threads_;
  int64_t thread_scratch_bytes_;
  bool has_shared_scratch_;
  uint64_t shared_scratch_bytes_;
};

class ReadyMatMul : public ReadyStep {
 public:
  explicit ReadyMatMul(std::unique_ptr<codegen::MatMul> matmul) : matmul_(std::move(matmul)) {}

  absl::Status Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const override {
    const absl::InlinedVector<const void*, 4> extras(pointers.begin() + 2, pointers.end() - 1);
    return matmul_->Execute(pointers[0], pointers[1], pointers.back(), extras, scratch);
  }

 private:
  std::unique_ptr<codegen::MatMul> matmul_;
};

class ReadyLinearCrossEntropy : public ReadyStep {
 public:
  explicit ReadyLinearCrossEntropy(std::unique_ptr<codegen::LinearCrossEntropy> loss)
      : loss_(std::move(loss)) {}

  // x, w, labels; then loss_sum, lse and correct or, with gradients, dx and maybe dw.
  absl::Status Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const override {
    codegen::LinearCrossEntropy::Results results;
    results.loss_sum = reinterpret_cast<float*>(pointers[3]);
    results.lse = reinterpret_cast<float*>(pointers[4]);
    if (loss_->spec().with_grad) {
      results.dx = pointers[5];
      if (loss_->spec().needs_dw) results.dw = reinterpret_cast<float*>(pointers[6]);
    } else {
      results.correct = reinterpret_cast<int32_t*>(pointers[5]);
    }
    return loss_->Execute(pointers[0], pointers[1], reinterpret_cast<const int32_t*>(pointers[2]),
                          results, scratch);
  }

 private:
  std::unique_ptr<codegen::LinearCrossEntropy> loss_;
};

class ReadyBuiltin : public ReadyStep {
 public:
  ReadyBuiltin(const recipe::BuiltinStep& step, kernels::Builtin builtin)
      : parameters_(step.parameters().begin(), step.parameters().end()),
        value_(step.value()),
        builtin_(builtin) {}

  absl::Status Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const override {
    const absl::InlinedVector<const void*, 8> operands(pointers.begin(), pointers.end() - 1);
    return builtin_({parameters_, value_, operands, pointers.back()});
  }

 private:
  std::vector<int64_t> parameters_;
  double value_;
  kernels::Builtin builtin_;
};

absl::StatusOr<std::unique_ptr<ReadyStep>> MakeKernel(const recipe::KernelStep& step,
                                                      const codegen::LoadedKernels& kernels,
                                                      const codegen::Target& target) {
  std::vector<ReadyKernel::Stage> stages;
  for (const recipe::KernelStage& stage : step.stages()) {
    TRENCADIS_ASSIGN_OR_RETURN(const codegen::KernelFn function, kernels.Find(stage.symbol()));
    stages.push_back({function, stage.units(), stage.grain()});
  }
  return std::make_unique<ReadyKernel>(step, std::move(stages), target.threads);
}

codegen::LinearCrossEntropySpec SpecOf(const recipe::LinearCrossEntropyStep& step) {
  codegen::LinearCrossEntropySpec spec;
  spec.dtype = static_cast<DType>(step.dtype());
  spec.rows = step.rows();
  spec.width = step.width();
  spec.vocabulary = step.vocabulary();
  spec.ignore_index = step.ignore_index();
  spec.label_smoothing = step.label_smoothing();
  spec.with_grad = step.with_grad();
  spec.needs_dw = step.needs_dw();
  return spec;
}

}  // namespace

codegen::MatMulSpec MatMulSpecOf(const recipe::MatMulStep& step) {
  codegen::MatMulSpec spec;
  spec.batch = step.batch();
  spec.m = step.m();
  spec.n = step.n();
  spec.k = step.k();
  spec.a_dtype = static_cast<DType>(step.a_dtype());
  spec.b_dtype = static_cast<DType>(step.b_dtype());
  spec.c_dtype = static_cast<DType>(step.c_dtype());
  spec.transpose_a = step.transpose_a();
  spec.transpose_b = step.transpose_b();
  spec.packed_b = step.packed_b();
  spec.batched_b = step.batched_b();
  for (const recipe::MatMulStep::PostOp& op : step.post_ops()) {
    const absl::StatusOr<codegen::PostOpKind> kind = codegen::ParsePostOp(op.kind());
    TRENCADIS_CHECK(kind.ok());  // the verifier has seen it
    spec.post_ops.push_back({*kind, op.value()});
  }
  return spec;
}

absl::StatusOr<std::unique_ptr<ReadyStep>> MakeReady(const recipe::Step& step,
                                                     const codegen::LoadedKernels& kernels,
                                                     const codegen::Target& target) {
  switch (step.kind_case()) {
    case recipe::Step::kKernel:
      return MakeKernel(step.kernel(), kernels, target);
    case recipe::Step::kMatmul: {
      TRENCADIS_ASSIGN_OR_RETURN(auto matmul,
                                 codegen::MatMul::Create(MatMulSpecOf(step.matmul()), target));
      return std::make_unique<ReadyMatMul>(std::move(matmul));
    }
    case recipe::Step::kLinearCrossEntropy: {
      TRENCADIS_ASSIGN_OR_RETURN(auto loss, codegen::LinearCrossEntropy::Create(
                                                SpecOf(step.linear_cross_entropy()), target));
      return std::make_unique<ReadyLinearCrossEntropy>(std::move(loss));
    }
    case recipe::Step::kBuiltin: {
      const recipe::BuiltinStep& builtin = step.builtin();
      const std::vector<int64_t> parameters(builtin.parameters().begin(),
                                            builtin.parameters().end());
      TRENCADIS_ASSIGN_OR_RETURN(
          const kernels::Builtin function,
          kernels::FindBuiltin(builtin.name(), parameters, step.operands_size()));
      return std::make_unique<ReadyBuiltin>(builtin, function);
    }
    default:
      return absl::InvalidArgumentError("the recipe has a step of a kind that this build lacks");
  }
}

}  // namespace trencadis
