#include "runtime/ir/graph_builder.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::ir {

Val GraphBuilder::Input(TensorType type) {
  const absl::Status valid = CheckTensorType(type);
  if (status_.ok()) status_ = valid;
  return status_.ok() ? HandleOf(graph_.AddInput(std::move(type))) : Val{};
}

Val GraphBuilder::HandleOf(Value value) {
  values_.push_back(value);
  return {static_cast<int>(values_.size()) - 1};
}

Value GraphBuilder::ValueOf(Val handle) const {
  TRENCADIS_CHECK(handle.id >= 0 && handle.id < static_cast<int>(values_.size()));
  return values_[handle.id];
}

std::vector<Val> GraphBuilder::Emit(absl::string_view name, absl::Span<const Val> operands,
                                    Attributes attributes) {
  if (!status_.ok()) return {};
  const OpDef* op = find_op_(name);
  if (op == nullptr) {
    status_ = absl::InvalidArgumentError(absl::StrCat("there is no op '", name, "'"));
    return {};
  }
  std::vector<Value> values;
  for (Val operand : operands) {
    if (!operand.valid()) {
      status_ = absl::InvalidArgumentError(absl::StrCat(name, ": an operand is an empty handle"));
      return {};
    }
    values.push_back(ValueOf(operand));
  }
  const absl::StatusOr<int32_t> node =
      graph_.AddNode(op, std::move(values), std::move(attributes), label_);
  if (!node.ok()) {
    status_ = node.status();
    return {};
  }
  std::vector<Val> results;
  for (size_t i = 0; i < graph_.node(*node).results.size(); ++i) {
    results.push_back(HandleOf({*node, static_cast<int32_t>(i)}));
  }
  return results;
}

TensorType GraphBuilder::TypeOf(Val value) const {
  return value.valid() ? graph_.type(ValueOf(value)) : TensorType{};
}

absl::Status GraphBuilder::Finish(absl::Span<const Val> outputs) {
  std::vector<Value> values;
  for (Val output : outputs) {
    if (status_.ok() && !output.valid()) {
      status_ = absl::InvalidArgumentError("an output is an empty handle");
    }
    TRENCADIS_RETURN_IF_ERROR(status_);
    values.push_back(ValueOf(output));
  }
  graph_.SetOutputs(std::move(values));
  return status_;
}

}  // namespace trencadis::ir
