#include "runtime/lazy/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/lazy/build_executable.h"

namespace trencadis::lazy {

absl::StatusOr<std::shared_ptr<const Executable>> RecordingProvider::GetOrCompile(
    const RecipeRequest& request) {
  requests_.push_back({request.graph, request.options});
  for (const auto& [known, executable] : built_) {
    if (known.graph == request.graph && known.options.arguments == request.options.arguments) {
      last_ = executable;
      return last_;
    }
  }
  TRENCADIS_ASSIGN_OR_RETURN(last_, BuildExecutable(request));
  built_.emplace_back(requests_.back(), last_);
  return last_;
}

TestMachine::TestMachine(ContextOptions context_options, DeviceOptions device_options,
                         int64_t memory_bytes)
    : device({"test", memory_bytes, 0, 0}, codegen::Target::Host(), device_options),
      context(&device, &recipes, std::move(context_options)) {}

Tensor FromValues(Context& context, Shape shape, const std::vector<float>& values) {
  return Tensor::FromHost(context, Literal::FromVector<float>(std::move(shape), values));
}

std::vector<float> RandomValues(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(static_cast<int32_t>(generator())) / 2147483648.0f;
  }
  return values;
}

std::vector<float> Values(const Tensor& tensor) {
  const absl::StatusOr<Literal> literal = tensor.ToHost();
  EXPECT_TRUE(literal.ok()) << literal.status();
  if (!literal.ok()) return {};
  return {literal->data<float>().begin(), literal->data<float>().end()};
}

int64_t CountOps(const ir::Graph& graph, absl::string_view op) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                       [&](const ir::Node& node) { return node.op->name == op; });
}

}  // namespace trencadis::lazy
