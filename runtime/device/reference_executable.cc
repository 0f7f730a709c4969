#include "runtime/device/reference_executable.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "runtime/base/status.h"
#include "runtime/core/literal.h"
#include "runtime/ops/interpreter.h"
#include "runtime/recipe/recipe.h"

namespace trencadis {
namespace {

recipe::RecipeProto SignatureOf(const ir::Graph& graph, std::vector<bool> donated) {
  recipe::RecipeProto recipe;
  recipe.set_version(recipe::kRecipeVersion);
  recipe.set_arena_alignment(recipe::kArenaAlignment);
  for (int32_t i = 0; i < graph.num_inputs(); ++i) {
    *recipe.add_inputs() = recipe::ToProto(graph.type(graph.input(i)));
  }
  for (size_t output = 0; output < graph.outputs().size(); ++output) {
    const TensorType& type = graph.type(graph.outputs()[output]);
    *recipe.add_outputs() = recipe::ToProto(type);
    for (size_t input = 0; input < donated.size(); ++input) {
      const auto id = static_cast<int32_t>(input);
      if (!donated[input] || graph.type(graph.input(id)).byte_size() != type.byte_size()) continue;
      donated[input] = false;
      recipe::Donation& donation = *recipe.add_donations();
      donation.set_output(static_cast<uint32_t>(output));
      donation.set_input(static_cast<uint32_t>(input));
      break;
    }
  }
  return recipe;
}

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(ir::Graph graph, const std::vector<bool>& donated)
      : Executable(SignatureOf(graph, donated)), graph_(std::move(graph)) {}

  absl::Status Run(const Bindings& bindings) const override {
    std::vector<Literal> arguments;
    for (int32_t i = 0; i < graph_.num_inputs(); ++i) {
      arguments.emplace_back(graph_.type(graph_.input(i)));
      const absl::Span<std::byte> bytes = arguments.back().bytes();
      std::copy_n(bindings.inputs[i], bytes.size(), bytes.begin());
    }
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<Literal> outputs,
                               ops::Interpret(graph_, arguments));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const absl::Span<const std::byte> bytes = outputs[i].bytes();
      std::copy(bytes.begin(), bytes.end(), bindings.outputs[i]);
    }
    return absl::OkStatus();
  }

  absl::Status Prepare(int index, const std::byte* argument, std::byte* packed) const override {
    return absl::InternalError("the reference has no packed copies");
  }

 private:
  const ir::Graph graph_;
};

}  // namespace

std::shared_ptr<const Executable> MakeReferenceExecutable(ir::Graph graph,
                                                          const std::vector<bool>& donated) {
  return std::make_shared<ReferenceExecutable>(std::move(graph), donated);
}

}  // namespace trencadis
