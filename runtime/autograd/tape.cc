#include "runtime/autograd/tape.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/lazy/ops.h"
#include "runtime/ops/registry.h"

namespace trencadis::autograd {

using lazy::Tensor;

// A vjp rule's view of one entry; what the rule emits is recorded on the context.
class EntryVjp : public ir::VjpContext, public ir::OpBuilder {
 public:
  EntryVjp(lazy::Context& context, const Tape& tape, const Tape::Entry& entry,
           const Tape::Cotangents& cotangents)
      : context_(context), tape_(tape), entry_(entry), cotangents_(cotangents) {}

  ir::OpBuilder& builder() override { return *this; }
  const ir::Attributes& attributes() const override { return entry_.attributes; }
  int num_operands() const override { return static_cast<int>(entry_.operands.size()); }
  ir::Val operand(int index) override { return ValOf(entry_.operands[index]); }
  ir::Val result(int index) override { return ValOf(entry_.results[index]); }
  ir::Val cotangent(int index) override {
    const auto it = cotangents_.find(entry_.results[index].id);
    return it == cotangents_.end() ? ir::Val{} : NewVal(it->second.type(), it->second);
  }
  bool NeedsGradient(int operand) const override {
    return tape_.needs_gradient_.contains(entry_.operands[operand].id);
  }
  void SetGradient(int operand, ir::Val gradient) override {
    if (gradient.valid()) gradients_.emplace_back(operand, values_[gradient.id].tensor);
  }

  std::vector<ir::Val> Emit(absl::string_view name, absl::Span<const ir::Val> operands,
                            ir::Attributes attributes) override {
    std::vector<Tensor> tensors;
    for (ir::Val operand : operands) {
      // A rule that reads a value it did not declare in vjp_reads_* is a defect of the op.
      TRENCADIS_CHECK(operand.valid() && values_[operand.id].tensor.defined());
      tensors.push_back(values_[operand.id].tensor);
    }
    std::vector<ir::Val> results;
    for (const Tensor& result :
         context_.Record(*ops::FindOp(name), tensors, std::move(attributes))) {
      results.push_back(NewVal(result.type(), result));
    }
    return results;
  }
  TensorType TypeOf(ir::Val value) const override { return values_[value.id].type; }

  const std::vector<std::pair<int, Tensor>>& gradients() const { return gradients_; }

 private:
  struct Known {
    TensorType type;
    Tensor tensor;
  };
  ir::Val NewVal(const TensorType& type, const Tensor& tensor) {
    values_.push_back({type, tensor});
    return {static_cast<int>(values_.size()) - 1};
  }
  ir::Val ValOf(const Tape::Saved& saved) { return NewVal(saved.type, saved.tensor); }

  lazy::Context& context_;
  const Tape& tape_;
  const Tape::Entry& entry_;
  const Tape::Cotangents& cotangents_;
  std::vector<Known> values_;
  std::vector<std::pair<int, Tensor>> gradients_;
};

Tape::Tape(lazy::Context& context) : context_(context), outer_(context.listener()) {
  context_.set_listener(this);
}

Tape::~Tape() { context_.set_listener(outer_); }

void Tape::Watch(const Tensor& tensor) {
  needs_gradient_.insert(tensor.id());
  if (watched_ids_.insert(tensor.id()).second) watched_.push_back(tensor);
}

bool Tape::NeedsGradient(const Tensor& tensor) const {
  return needs_gradient_.contains(tensor.id());
}

void Tape::OnOp(const ir::OpDef& op, const ir::Attributes& attributes,
                absl::Span<const Tensor> operands, absl::Span<const Tensor> results) {
  if (op.stops_gradient) return;
  const auto needs = [this](const Tensor& operand) { return NeedsGradient(operand); };
  if (std::none_of(operands.begin(), operands.end(), needs)) return;
  Entry entry{&op, attributes, {}, {}, nullptr};
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool read = i >= 32 || (op.vjp_reads_operands >> i & 1u) != 0;
    entry.operands.push_back({operands[i].id(), operands[i].type(), read ? operands[i] : Tensor()});
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool read = (op.vjp_reads_results >> i & 1u) != 0;
    entry.results.push_back({results[i].id(), results[i].type(), read ? results[i] : Tensor()});
    if (IsFloat(results[i].dtype())) needs_gradient_.insert(results[i].id());
  }
  entries_.push_back(std::move(entry));
}

std::vector<Tensor> Tape::Checkpoint(Segment segment, absl::Span<const Tensor> inputs) {
  std::vector<Tensor> outputs;
  {
    PauseRecording pause(context_);
    outputs = segment(inputs);
  }
  Entry entry;
  for (const Tensor& input : inputs) entry.operands.push_back({input.id(), input.type(), input});
  for (const Tensor& output : outputs) {
    entry.results.push_back({output.id(), output.type(), Tensor()});
    if (IsFloat(output.dtype())) needs_gradient_.insert(output.id());
  }
  entry.segment = std::move(segment);
  entries_.push_back(std::move(entry));
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> Tape::Gradient(const Tensor& y, absl::Span<const Tensor> leaves,
                                                   const Tensor& cotangent) {
  TRENCADIS_RETURN_IF_ERROR(context_.status());
  PauseRecording pause(context_);
  Cotangents cotangents;
  cotangents[y.id()] = cotangent.defined() ? cotangent : lazy::Full(context_, y.type(), 1);
  TRENCADIS_RETURN_IF_ERROR(Backward(cotangents));
  std::vector<Tensor> gradients;
  for (const Tensor& leaf : leaves) {
    const auto it = cotangents.find(leaf.id());
    gradients.push_back(it != cotangents.end() ? it->second : lazy::Zeros(context_, leaf.type()));
  }
  TRENCADIS_RETURN_IF_ERROR(context_.status());
  return gradients;
}

absl::Status Tape::Backward(Cotangents& cotangents) {
  while (!entries_.empty()) {
    // Moved out, so that its values go as soon as they are not needed any more.
    Entry entry = std::move(entries_.back());
    entries_.pop_back();
    if (AnyCotangent(entry, cotangents)) {
      TRENCADIS_RETURN_IF_ERROR(entry.op != nullptr ? BackwardOp(entry, cotangents)
                                                    : BackwardSegment(entry, cotangents));
    }
    for (const Saved& result : entry.results) {
      if (!watched_ids_.contains(result.id)) cotangents.erase(result.id);
    }
  }
  return context_.status();
}

bool Tape::AnyCotangent(const Entry& entry, const Cotangents& cotangents) const {
  return std::any_of(entry.results.begin(), entry.results.end(),
                     [&](const Saved& result) { return cotangents.contains(result.id); });
}

absl::Status Tape::BackwardOp(Entry& entry, Cotangents& cotangents) {
  if (entry.op->vjp == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "op '", entry.op->name, "' has no derivative, but a gradient flows through it"));
  }
  EntryVjp vjp(context_, *this, entry, cotangents);
  TRENCADIS_RETURN_IF_ERROR(Annotate(entry.op->vjp(vjp), entry.op->name));
  for (const auto& [operand, gradient] : vjp.gradients()) {
    if (vjp.NeedsGradient(operand)) Accumulate(cotangents, entry.operands[operand].id, gradient);
  }
  return absl::OkStatus();
}

absl::Status Tape::BackwardSegment(Entry& entry, Cotangents& cotangents) {
  std::vector<Tensor> known_gradients;
  for (const Saved& result : entry.results) {
    const auto it = cotangents.find(result.id);
    if (it != cotangents.end()) known_gradients.push_back(it->second);
  }
  Tape inner(context_);
  std::vector<Tensor> inputs;
  for (const Saved& input : entry.operands) {
    // Behind a barrier the second run can neither be merged with the first nor start before its
    // gradient exists.
    inputs.push_back(lazy::Barrier(input.tensor, known_gradients));
    if (needs_gradient_.contains(input.id)) inner.Watch(inputs.back());
  }
  for (const Tensor& leaf : watched_) inner.Watch(leaf);
  const std::vector<Tensor> outputs = entry.segment(inputs);
  PauseRecording pause(context_);
  Cotangents inner_cotangents;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto it = cotangents.find(entry.results[i].id);
    if (it != cotangents.end()) Accumulate(inner_cotangents, outputs[i].id(), it->second);
  }
  TRENCADIS_RETURN_IF_ERROR(inner.Backward(inner_cotangents));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto it = inner_cotangents.find(inputs[i].id());
    if (it != inner_cotangents.end()) Accumulate(cotangents, entry.operands[i].id, it->second);
  }
  for (const Tensor& leaf : watched_) {
    const auto it = inner_cotangents.find(leaf.id());
    if (it != inner_cotangents.end()) Accumulate(cotangents, leaf.id(), it->second);
  }
  return absl::OkStatus();
}

void Tape::Accumulate(Cotangents& cotangents, uint64_t id, const Tensor& gradient) {
  Tensor& sum = cotangents[id];
  sum = sum.defined() ? lazy::Add(sum, gradient) : gradient;
}

}  // namespace trencadis::autograd
