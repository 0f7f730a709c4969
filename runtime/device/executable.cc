#include "runtime/device/executable.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/loaded_kernels.h"
#include "runtime/codegen/matmul.h"
#include "runtime/device/ready_steps.h"
#include "runtime/recipe/verifier.h"

namespace trencadis {

// What running needs beside the recipe.
struct Executable::Code {
  std::unique_ptr<codegen::LoadedKernels> kernels;
  std::vector<std::unique_ptr<ReadyStep>> steps;
  std::vector<std::unique_ptr<codegen::MatMul>> packers;  // by prepared copy
};

Executable::Executable(recipe::RecipeProto recipe)
    : recipe_(std::move(recipe)), code_(std::make_unique<Code>()) {}

Executable::~Executable() = default;

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Load(recipe::RecipeProto recipe,
                                                                   const codegen::Target& target) {
  if (recipe.target() != target.ToString()) {
    return absl::FailedPreconditionError(absl::StrCat("the recipe was compiled for ",
                                                      recipe.target(), "; this is ",
                                                      target.ToString(), ": compile it again"));
  }
  TRENCADIS_RETURN_IF_ERROR(recipe::VerifyRecipe(recipe));
  std::shared_ptr<Executable> executable(new Executable(std::move(recipe)));
  Code& code = *executable->code_;
  const recipe::RecipeProto& loaded = executable->recipe_;
  const std::vector<absl::string_view> objects(loaded.objects().begin(), loaded.objects().end());
  TRENCADIS_ASSIGN_OR_RETURN(code.kernels, codegen::LoadedKernels::Load(objects));
  for (const recipe::Step& step : loaded.steps()) {
    TRENCADIS_ASSIGN_OR_RETURN(auto ready, MakeReady(step, *code.kernels, target));
    code.steps.push_back(std::move(ready));
  }
  for (const recipe::Prepared& prepared : loaded.prepared()) {
    TRENCADIS_ASSIGN_OR_RETURN(auto packer,
                               codegen::MatMul::Create(MatMulSpecOf(prepared.matmul()), target));
    code.packers.push_back(std::move(packer));
  }
  return executable;
}

absl::Status Executable::Run(const Bindings& bindings) const {
  // Steps never write constants: the verifier has checked.
  auto* constants = reinterpret_cast<std::byte*>(const_cast<char*>(recipe_.constants().data()));
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
  for (int i = 0; i < recipe_.steps_size(); ++i) {
    const recipe::Step& step = recipe_.steps(i);
    pointers.clear();
    for (const recipe::BufferSlice& operand : step.operands()) pointers.push_back(address(operand));
    for (const recipe::BufferSlice& result : step.results()) pointers.push_back(address(result));
    std::byte* scratch = step.scratch().bytes() > 0 ? address(step.scratch()) : nullptr;
    absl::Status status = code_->steps[i]->Run(pointers, scratch);
    if (!status.ok()) return Annotate(status, step.label());
  }
  return absl::OkStatus();
}

absl::Status Executable::Prepare(int index, const std::byte* argument, std::byte* packed) const {
  return code_->packers[index]->PackB(argument, packed);
}

}  // namespace trencadis
