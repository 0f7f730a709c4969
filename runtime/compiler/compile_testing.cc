#include "runtime/compiler/compile_testing.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/target.h"
#include "runtime/device/executable.h"
#include "runtime/ops/close.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::compiler {
namespace {

// Bytes at a multiple of 64, filled with 0xff: NaN in every float type.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size)
      : data_(static_cast<std::byte*>(::operator new (size + 1, std::align_val_t{64}))) {
    std::fill_n(data_, size, std::byte{0xff});
  }
  ~AlignedBytes() { ::operator delete (data_, std::align_val_t{64}); }
  AlignedBytes(AlignedBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> RunRecipe(const recipe::RecipeProto& recipe,
                                               absl::Span<const Literal> arguments) {
  TRENCADIS_ASSIGN_OR_RETURN(recipe::RecipeProto loaded,
                             recipe::ParseRecipe(recipe::SerializeRecipe(recipe)));
  TRENCADIS_ASSIGN_OR_RETURN(const auto executable,
                             Executable::Load(std::move(loaded), codegen::Target::Host()));
  std::vector<AlignedBytes> memory;
  const auto allocate = [&](size_t bytes) {
    memory.emplace_back(bytes);
    return memory.back().data();
  };
  Bindings bindings;
  for (const Literal& argument : arguments) {
    bindings.inputs.push_back(allocate(argument.bytes().size()));
    std::copy(argument.bytes().begin(), argument.bytes().end(), bindings.inputs.back());
  }
  std::vector<Literal> results;
  for (const recipe::TensorTypeProto& output : recipe.outputs()) {
    TRENCADIS_ASSIGN_OR_RETURN(TensorType type, recipe::FromProto(output));
    results.emplace_back(std::move(type));
    bindings.outputs.push_back(allocate(results.back().bytes().size()));
  }
  for (const auto* pairs : {&recipe.donations(), &recipe.passed_through()}) {
    for (const recipe::Donation& pair : *pairs) {
      bindings.outputs[pair.output()] = bindings.inputs[pair.input()];
    }
  }
  for (int i = 0; i < recipe.prepared_size(); ++i) {
    const recipe::Prepared& prepared = recipe.prepared(i);
    bindings.prepared.push_back(allocate(prepared.bytes()));
    TRENCADIS_RETURN_IF_ERROR(
        executable->Prepare(i, bindings.inputs[prepared.input()], bindings.prepared.back()));
  }
  bindings.arena = allocate(recipe.arena_bytes());
  TRENCADIS_RETURN_IF_ERROR(executable->Run(bindings));
  for (size_t i = 0; i < results.size(); ++i) {
    std::copy_n(bindings.outputs[i], results[i].bytes().size(), results[i].bytes().begin());
  }
  return results;
}

absl::StatusOr<std::vector<Literal>> CompileAndRun(const ir::Graph& graph,
                                                   const CompileOptions& options,
                                                   absl::Span<const Literal> arguments) {
  TRENCADIS_ASSIGN_OR_RETURN(const recipe::RecipeProto recipe,
                             Compile(graph, options, codegen::Target::Host()));
  return RunRecipe(recipe, arguments);
}

absl::Status CheckSameBits(absl::Span<const Literal> got, absl::Span<const Literal> want) {
  if (got.size() != want.size()) {
    return absl::InternalError(absl::StrCat(got.size(), " results; wanted ", want.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    TRENCADIS_RETURN_IF_ERROR(
        Annotate(ops::CheckClose(got[i], want[i], {}), absl::StrCat("result ", i)));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::compiler
