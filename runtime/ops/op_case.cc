#include "runtime/ops/op_case.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "runtime/base/fingerprint.h"
#include "runtime/base/status.h"
#include "runtime/ir/graph_builder.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/op_case_tables.h"
#include "runtime/ops/registry.h"
#include "runtime/ops/vjp_math.h"

namespace trencadis::ops {
namespace {

using Random = std::mt19937_64;

double UnitUniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Not std::uniform_*_distribution, whose numbers differ between standard libraries.
double Draw(const OperandSpec& spec, Random& random) {
  if (IsFloat(spec.type.dtype)) return spec.low + (spec.high - spec.low) * UnitUniform(random);
  return std::floor(spec.low + (spec.high - spec.low + 1) * UnitUniform(random));
}

std::vector<double> EvenlySpaced(const OperandSpec& spec, Random& random) {
  const int64_t count = spec.type.shape.num_elements();
  std::vector<double> values(count);
  const double step = (spec.high - spec.low) / static_cast<double>(std::max<int64_t>(count, 1));
  for (int64_t i = 0; i < count; ++i) values[i] = spec.low + step * (static_cast<double>(i) + 0.5);
  for (int64_t i = count - 1; i > 0; --i) std::swap(values[i], values[random() % (i + 1)]);
  return values;
}

// Builds into a graph and refuses operands of which only the type may be known.
class CheckedBuilder : public ir::OpBuilder {
 public:
  explicit CheckedBuilder(ir::GraphBuilder& builder) : builder_(builder) {}

  void Forbid(ir::Val value) { forbidden_.push_back(value.id); }
  const absl::Status& status() const { return status_; }

  std::vector<ir::Val> Emit(absl::string_view name, absl::Span<const ir::Val> operands,
                            ir::Attributes attributes) override {
    for (ir::Val operand : operands) {
      if (std::count(forbidden_.begin(), forbidden_.end(), operand.id) == 0) continue;
      status_ = absl::InternalError(
          absl::StrCat("the vjp gives ", name, " a value that vjp_reads_* does not declare"));
    }
    return builder_.Emit(name, operands, std::move(attributes));
  }
  TensorType TypeOf(ir::Val value) const override { return builder_.TypeOf(value); }

 private:
  ir::GraphBuilder& builder_;
  std::vector<int> forbidden_;
  absl::Status status_;
};

// The vjp of the last node of a graph.
class NodeVjp : public ir::VjpContext {
 public:
  NodeVjp(ir::GraphBuilder& builder, const ir::OpDef& op, const ir::Attributes& attributes,
          std::vector<ir::Val> operands, std::vector<ir::Val> results, ir::Val cotangent)
      : graph_builder_(builder),
        builder_(builder),
        op_(op),
        attributes_(attributes),
        operands_(std::move(operands)),
        results_(std::move(results)),
        cotangent_(cotangent),
        gradients_(operands_.size()) {
    // Operands and results get handles of their own, so that forbidding one forbids no other.
    Rename(operands_, op.vjp_reads_operands);
    Rename(results_, op.vjp_reads_results);
  }

  ir::OpBuilder& builder() override { return builder_; }
  const ir::Attributes& attributes() const override { return attributes_; }
  int num_operands() const override { return static_cast<int>(operands_.size()); }
  ir::Val operand(int index) override { return operands_[index]; }
  ir::Val result(int index) override { return results_[index]; }
  ir::Val cotangent(int index) override { return index == 0 ? cotangent_ : ir::Val{}; }
  bool NeedsGradient(int operand) const override {
    return IsFloat(builder_.TypeOf(operands_[operand]).dtype);
  }
  void SetGradient(int operand, ir::Val gradient) override { gradients_[operand] = gradient; }

  // Gradients of the float operands.
  absl::StatusOr<std::vector<ir::Val>> Run() {
    TRENCADIS_RETURN_IF_ERROR(op_.vjp(*this));
    TRENCADIS_RETURN_IF_ERROR(builder_.status());
    TRENCADIS_RETURN_IF_ERROR(graph_builder_.status());
    std::vector<ir::Val> gradients;
    for (int i = 0; i < num_operands(); ++i) {
      if (!NeedsGradient(i)) continue;
      const TensorType type = builder_.TypeOf(operands_[i]);
      const ir::Val gradient =
          gradients_[i].valid() ? gradients_[i] : VjpMath(graph_builder_).Full(type, 0);
      if (builder_.TypeOf(gradient) != type) {
        return absl::InternalError(absl::StrCat("the gradient of operand ", i, " is ",
                                                builder_.TypeOf(gradient).ToString(), "; wanted ",
                                                type.ToString()));
      }
      gradients.push_back(gradient);
    }
    return gradients;
  }

 private:
  void Rename(std::vector<ir::Val>& values, uint32_t readable) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = graph_builder_.HandleOf(graph_builder_.ValueOf(values[i]));
      if (i < 32 && (readable >> i & 1u) == 0) builder_.Forbid(values[i]);
    }
  }

  ir::GraphBuilder& graph_builder_;
  CheckedBuilder builder_;
  const ir::OpDef& op_;
  const ir::Attributes& attributes_;
  std::vector<ir::Val> operands_;
  std::vector<ir::Val> results_;
  ir::Val cotangent_;
  std::vector<ir::Val> gradients_;
};

std::vector<ir::Val> AddInputs(ir::GraphBuilder& builder, const OpCase& op_case) {
  std::vector<ir::Val> inputs;
  for (const OperandSpec& operand : op_case.operands) inputs.push_back(builder.Input(operand.type));
  return inputs;
}

}  // namespace

Literal MakeOperand(const OperandSpec& spec, uint64_t seed) {
  if (spec.values != nullptr) return *spec.values;
  Random random(seed);
  Literal literal(spec.type);
  const std::vector<double> spaced =
      spec.distinct ? EvenlySpaced(spec, random) : std::vector<double>();
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    literal.SetDouble(i, spec.distinct ? spaced[i] : Draw(spec, random));
  }
  return literal;
}

std::vector<Literal> MakeOperands(const OpCase& op_case) {
  uint64_t seed = FingerprintOf(absl::string_view(op_case.name)).low;
  std::vector<Literal> operands;
  for (const OperandSpec& spec : op_case.operands) operands.push_back(MakeOperand(spec, seed++));
  return operands;
}

const std::vector<OpCase>& AllOpCases() {
  static const std::vector<OpCase>* const cases = [] {
    auto* all = new std::vector<OpCase>;
    for (auto add : {AddGeneratorCases, AddUnaryCases, AddBinaryCases, AddLogicalCases,
                     AddRandomCases, AddViewCases, AddReductionCases, AddMatmulCases,
                     AddIndexingCases, AddAttentionCases, AddLossCases, AddStructuralCases}) {
      add(*all);
    }
    return all;
  }();
  return *cases;
}

absl::StatusOr<ir::Graph> CaseGraph(const OpCase& op_case) {
  ir::Graph graph;
  ir::GraphBuilder builder(graph, FindOp);
  const std::vector<ir::Val> inputs = AddInputs(builder, op_case);
  TRENCADIS_RETURN_IF_ERROR(builder.Finish(builder.Emit(op_case.op, inputs, op_case.attributes)));
  return graph;
}

absl::StatusOr<std::vector<Literal>> RunReference(const OpCase& op_case,
                                                  absl::Span<const Literal> operands) {
  TRENCADIS_ASSIGN_OR_RETURN(const ir::Graph graph, CaseGraph(op_case));
  return Interpret(graph, operands);
}

absl::StatusOr<ir::Graph> GradientGraph(const OpCase& op_case) {
  // The cotangent is an input, and inputs come before the op that says its type.
  TRENCADIS_ASSIGN_OR_RETURN(const ir::Graph forward, CaseGraph(op_case));
  const ir::OpDef& op = *FindOp(op_case.op);
  ir::Graph graph;
  ir::GraphBuilder builder(graph, FindOp);
  const std::vector<ir::Val> inputs = AddInputs(builder, op_case);
  const ir::Val cotangent = builder.Input(forward.type(forward.outputs()[0]));
  std::vector<ir::Val> results = builder.Emit(op_case.op, inputs, op_case.attributes);
  TRENCADIS_RETURN_IF_ERROR(builder.status());
  NodeVjp vjp(builder, op, op_case.attributes, inputs, std::move(results), cotangent);
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<ir::Val> gradients, vjp.Run());
  TRENCADIS_RETURN_IF_ERROR(builder.Finish(gradients));
  return graph;
}

}  // namespace trencadis::ops
