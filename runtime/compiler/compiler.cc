#include "runtime/compiler/compiler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/compiler/emitter.h"
#include "runtime/compiler/optimise.h"
#include "runtime/compiler/ordering.h"
#include "runtime/compiler/passes/legalise.h"
#include "runtime/compiler/step_lowering.h"
#include "runtime/compiler/storage.h"

namespace trencadis::compiler {
namespace {

// Threads that compile kernels beside each other.
constexpr int kCompileThreads = 2;

absl::StatusOr<std::vector<ArgumentInfo>> ArgumentsOf(const ir::Graph& graph,
                                                      const CompileOptions& options) {
  if (options.arguments.empty()) return std::vector<ArgumentInfo>(graph.num_inputs());
  if (options.arguments.size() != static_cast<size_t>(graph.num_inputs())) {
    return absl::InvalidArgumentError(absl::StrCat("got ", options.arguments.size(),
                                                   " arguments' infos; the graph has ",
                                                   graph.num_inputs(), " inputs"));
  }
  return options.arguments;
}

std::vector<int32_t> StepsInProgramOrder(const ir::Graph& graph, const StepLowering& lowering) {
  std::vector<int32_t> steps;
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    if (lowering.IsStep(id)) steps.push_back(id);
  }
  return steps;
}

}  // namespace

absl::StatusOr<recipe::RecipeProto> Compile(const ir::Graph& graph, const CompileOptions& options,
                                            const codegen::Target& target) {
  const auto start = std::chrono::steady_clock::now();
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<ArgumentInfo> arguments,
                             ArgumentsOf(graph, options));
  ir::Graph work = graph;
  TRENCADIS_RETURN_IF_ERROR(Legalise(work).status());
  if (options.optimize) {
    TRENCADIS_RETURN_IF_ERROR(
        OptimisationPipeline(options.name, options.disabled_passes).Run(work));
  }
  StorageRequest storage_request{.graph = &work, .reuse = options.optimize};
  EmitRequest emit_request{.graph = &work};
  for (const ArgumentInfo& argument : arguments) {
    storage_request.donated.push_back(argument.donated);
    emit_request.frozen.push_back(argument.frozen && !argument.donated);
  }
  TRENCADIS_ASSIGN_OR_RETURN(StepLowering lowering, StepLowering::Build(work));
  const std::vector<int32_t> steps = options.optimize
                                         ? OrderSteps(work, storage_request.donated, lowering)
                                         : StepsInProgramOrder(work, lowering);
  storage_request.steps = emit_request.steps = steps;
  const Storage storage =
      AssignStorage(storage_request, [&](int32_t node, int operand, int result) {
        return lowering.MayOverwrite(node, operand, result);
      });
  emit_request.storage = &storage;
  TRENCADIS_RETURN_IF_ERROR(lowering.Compile(target, kCompileThreads));
  TRENCADIS_ASSIGN_OR_RETURN(recipe::RecipeProto recipe,
                             EmitRecipe(emit_request, lowering, target));
  recipe.set_name(options.name);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  recipe.set_compile_seconds(elapsed.count());
  return recipe;
}

}  // namespace trencadis::compiler
