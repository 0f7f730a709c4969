#include "runtime/lazy/context.h"

#include <atomic>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/env.h"
#include "runtime/base/status.h"

namespace trencadis::lazy {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::shared_ptr<ValueState> NewState(TensorType type) {
  auto state = std::make_shared<ValueState>();
  state->type = std::move(type);
  state->id = NextId();
  return state;
}

// Types for the results of an op that could not be recorded, so that the program may go on to the
// next MarkStep, which returns the error. No op has more results.
ir::TypeList PlaceholderTypes(absl::Span<const Tensor> operands) {
  constexpr int kMaxResults = 4;
  return ir::TypeList(kMaxResults, operands.empty() ? TensorType{} : operands[0].type());
}

}  // namespace

std::vector<std::string> DisabledPasses() {
  return absl::StrSplit(EnvString("HPU_DISABLE_PASSES", ""), ',', absl::SkipEmpty());
}

Context::Context(Device* device, RecipeProvider* recipes, ContextOptions options)
    : device_(device), recipes_(recipes), options_(std::move(options)) {}

void Context::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Tensor Context::FromHost(const Literal& literal) {
  return Materialised(literal.type(), device_->FromHost(literal));
}

Tensor Context::Uninitialised(const TensorType& type) {
  return Materialised(type, device_->Allocate(type.byte_size()));
}

Tensor Context::Materialised(const TensorType& type, absl::StatusOr<BufferPtr> buffer) {
  std::shared_ptr<ValueState> state = NewState(type);
  if (buffer.ok()) {
    state->buffer = *std::move(buffer);
  } else {
    Fail(buffer.status());
  }
  return Tensor(this, std::move(state));
}

absl::StatusOr<Literal> Context::ToHost(const Tensor& tensor) {
  if (tensor.buffer() == nullptr) TRENCADIS_RETURN_IF_ERROR(MarkStep());
  TRENCADIS_RETURN_IF_ERROR(status_);
  absl::StatusOr<Literal> literal = device_->ToHost(*tensor.buffer(), tensor.type());
  if (!literal.ok()) Fail(literal.status());
  return literal;
}

std::vector<Tensor> Context::Record(const ir::OpDef& op, absl::Span<const Tensor> operands,
                                    ir::Attributes attributes) {
  std::vector<TensorType> operand_types;
  PendingNode node{&op, std::move(attributes), {}, {}, label_};
  for (const Tensor& operand : operands) {
    operand_types.push_back(operand.type());
    node.operands.push_back(operand.state_ptr());
  }
  absl::StatusOr<ir::TypeList> types = ir::InferTypes(op, operand_types, node.attributes);
  if (!types.ok()) {
    Fail(label_.empty() ? types.status() : Annotate(types.status(), label_));
    types = PlaceholderTypes(operands);
    node.operands.clear();
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < types->size(); ++i) {
    std::shared_ptr<ValueState> state = NewState(std::move((*types)[i]));
    state->node = static_cast<int32_t>(pending_.size());
    state->output = static_cast<int32_t>(i);
    node.results.push_back(state);
    results.emplace_back(this, std::move(state));
  }
  if (!status_.ok()) return results;
  if (listener_ != nullptr) listener_->OnOp(op, node.attributes, operands, results);
  pending_.push_back(std::move(node));
  if (options_.max_compound_ops > 0 && num_pending() >= options_.max_compound_ops) {
    Fail(MarkStep());
  }
  return results;
}

std::vector<bool> Context::NodesToRun(absl::Span<const std::shared_ptr<ValueState>> outputs) const {
  std::vector<bool> needed(pending_.size());
  for (const auto& output : outputs) needed[output->node] = true;
  for (size_t i = pending_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const auto& operand : pending_[i].operands) {
      if (operand->buffer == nullptr) needed[operand->node] = true;
    }
  }
  return needed;
}

absl::StatusOr<Context::Step> Context::BuildStep() const {
  Step step;
  for (const PendingNode& node : pending_) {
    for (const auto& result : node.results) {
      std::shared_ptr<ValueState> state = result.lock();
      if (state != nullptr && !state->handle.expired()) step.outputs.push_back(std::move(state));
    }
  }
  const std::vector<bool> needed = NodesToRun(step.outputs);
  absl::flat_hash_map<const ValueState*, ir::Value> argument_values;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (!needed[i]) continue;
    for (const auto& operand : pending_[i].operands) {
      if (operand->buffer == nullptr || argument_values.contains(operand.get())) continue;
      argument_values[operand.get()] = step.graph.AddInput(operand->type);
      step.arguments.push_back(operand);
    }
  }
  std::vector<int32_t> graph_nodes(pending_.size(), -1);
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (!needed[i]) continue;
    std::vector<ir::Value> operands;
    for (const auto& operand : pending_[i].operands) {
      operands.push_back(operand->buffer != nullptr
                             ? argument_values[operand.get()]
                             : ir::Value{graph_nodes[operand->node], operand->output});
    }
    TRENCADIS_ASSIGN_OR_RETURN(graph_nodes[i],
                               step.graph.AddNode(pending_[i].op, std::move(operands),
                                                  pending_[i].attributes, pending_[i].label));
  }
  std::vector<ir::Value> outputs;
  for (const auto& output : step.outputs) {
    outputs.push_back({graph_nodes[output->node], output->output});
  }
  step.graph.SetOutputs(std::move(outputs));
  return step;
}

absl::StatusOr<ir::Graph> Context::PendingGraph() const {
  TRENCADIS_ASSIGN_OR_RETURN(Step step, BuildStep());
  return std::move(step.graph);
}

absl::Status Context::LaunchStep() {
  TRENCADIS_ASSIGN_OR_RETURN(Step step, BuildStep());
  pending_.clear();
  if (step.outputs.empty()) return absl::OkStatus();
  compiler::CompileOptions options;
  options.name = label_;
  options.disabled_passes = options_.disabled_passes;
  std::vector<BufferPtr> arguments;
  for (std::shared_ptr<ValueState>& state : step.arguments) {
    // Nobody can ask for the old value (no handle, and no other value shares the buffer) nor does
    // anybody rely on the buffer's contents.
    const bool frozen = state->buffer->frozen();
    const bool donated = !frozen && state->handle.expired() && state->buffer.use_count() == 1;
    options.arguments.push_back({donated, frozen});
    arguments.push_back(state->buffer);
  }
  TRENCADIS_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable,
                             recipes_->GetOrCompile({step.graph, options, device_->target()}));
  TRENCADIS_ASSIGN_OR_RETURN(std::vector<BufferPtr> results,
                             device_->Launch(std::move(executable), arguments));
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    step.outputs[i]->buffer = std::move(results[i]);
    step.outputs[i]->node = -1;
  }
  return absl::OkStatus();
}

absl::Status Context::MarkStep() {
  if (status_.ok()) Fail(LaunchStep());
  pending_.clear();
  return status_;
}

absl::Status Context::Synchronize() {
  TRENCADIS_RETURN_IF_ERROR(MarkStep());
  Fail(device_->Synchronize());
  return status_;
}

LabelScope::LabelScope(Context& context, absl::string_view name)
    : context_(context), outer_size_(context.label_.size()) {
  absl::StrAppend(&context_.label_, context_.label_.empty() ? "" : ".", name);
}

LabelScope::~LabelScope() { context_.label_.resize(outer_size_); }

}  // namespace trencadis::lazy
