#include "runtime/device/executable.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/trace.h"
#include "runtime/codegen/loaded_kernels.h"
#include "runtime/codegen/matmul.h"
#include "runtime/device/ready_steps.h"
#include "runtime/recipe/verifier.h"

namespace trencadis {

namespace {

// The step's kind, as traces show it.
absl::string_view KindName(const recipe::Step& step) {
  switch (step.kind_case()) {
    case recipe::Step::kKernel:
      return "kernel";
    case recipe::Step::kMatmul:
      return "matmul";
    case recipe::Step::kLinearCrossEntropy:
      return "linear_cross_entropy";
    default:
      return "builtin";
  }
}

class CompiledExecutable : public Executable {
 public:
  explicit CompiledExecutable(recipe::RecipeProto recipe) : Executable(std::move(recipe)) {}

  absl::Status LoadCode(const codegen::Target& target);
  absl::Status Run(const Bindings& bindings) const override;
  absl::Status Prepare(int index, const std::byte* argument, std::byte* packed) const override {
    return packers_[index]->PackB(argument, packed);
  }

 private:
  std::unique_ptr<codegen::LoadedKernels> kernels_;
  std::vector<std::unique_ptr<ReadyStep>> steps_;
  std::vector<std::unique_ptr<codegen::MatMul>> packers_;  // by prepared copy
};

absl::Status CompiledExecutable::LoadCode(const codegen::Target& target) {
  const std::vector<absl::string_view> objects(recipe().objects().begin(),
                                               recipe().objects().end());
  TRENCADIS_ASSIGN_OR_RETURN(kernels_, codegen::LoadedKernels::Load(objects));
  for (const recipe::Step& step : recipe().steps()) {
    TRENCADIS_ASSIGN_OR_RETURN(auto ready, MakeReady(step, *kernels_, target));
    steps_.push_back(std::move(ready));
  }
  for (const recipe::Prepared& prepared : recipe().prepared()) {
    TRENCADIS_ASSIGN_OR_RETURN(auto packer,
                               codegen::MatMul::Create(MatMulSpecOf(prepared.matmul()), target));
    packers_.push_back(std::move(packer));
  }
  return absl::OkStatus();
}

absl::Status CompiledExecutable::Run(const Bindings& bindings) const {
  // Steps never write constants: the verifier has checked.
  auto* constants = reinterpret_cast<std::byte*>(const_cast<char*>(recipe().constants().data()));
  const auto address = [&](const recipe::BufferSlice& slice) -> std::byte* {
    switch (slice.space()) {
      case recipe::BufferSlice::ARENA:
        return bindings.arena + slice.offset();
      case recipe::BufferSlice::INPUT:
        return bindings.inputs[slice.index()] + slice.offset();
      case recipe::BufferSlice::OUTPUT:
        return bindings.outputs[slice.index()] + slice.offset();
      case recipe::BufferSlice::CONSTANT:
        return constants + slice.offset();
      default:
        return bindings.prepared[slice.index()] + slice.offset();
    }
  };
  std::vector<std::byte*> pointers;
  for (int i = 0; i < recipe().steps_size(); ++i) {
    const recipe::Step& step = recipe().steps(i);
    pointers.clear();
    for (const recipe::BufferSlice& operand : step.operands()) pointers.push_back(address(operand));
    for (const recipe::BufferSlice& result : step.results()) pointers.push_back(address(result));
    std::byte* scratch = step.scratch().bytes() > 0 ? address(step.scratch()) : nullptr;
    TraceSpan span(step.label(), KindName(step));
    absl::Status status = steps_[i]->Run(pointers, scratch);
    if (!status.ok()) return Annotate(status, step.label());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Load(recipe::RecipeProto recipe,
                                                                   const codegen::Target& target) {
  if (recipe.target() != target.ToString()) {
    return absl::FailedPreconditionError(absl::StrCat("the recipe was compiled for ",
                                                      recipe.target(), "; this is ",
                                                      target.ToString(), ": compile it again"));
  }
  TRENCADIS_RETURN_IF_ERROR(recipe::VerifyRecipe(recipe));
  auto executable = std::make_shared<CompiledExecutable>(std::move(recipe));
  TRENCADIS_RETURN_IF_ERROR(executable->LoadCode(target));
  return executable;
}

}  // namespace trencadis
