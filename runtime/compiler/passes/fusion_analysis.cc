#include "runtime/compiler/passes/fusion_analysis.h"

#include <algorithm>

#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"

namespace trencadis::compiler {
namespace {

// Constants up to this size may be a table inside a kernel; larger ones stay in memory.
constexpr int64_t kMaxInlineConstantElements = 64;

FusionRole RoleOf(const ir::Node& node) {
  switch (ClassOf(node)) {
    case ir::OpClass::kElementwise:
    case ir::OpClass::kReduction:
      return FusionRole::kCompute;
    case ir::OpClass::kView:
      return FusionRole::kInline;
    case ir::OpClass::kGenerator:
      if (node.op == Ops().constant &&
          node.results[0].shape.num_elements() > kMaxInlineConstantElements) {
        return FusionRole::kOpaque;
      }
      return FusionRole::kInline;
    default:
      return FusionRole::kOpaque;
  }
}

}  // namespace

FusionAnalysis::FusionAnalysis(const ir::Graph& graph) : graph_(graph) {
  AssignRoles();
  MarkMaterialisedViews();
  CollectDependencies();
  shapes_.resize(graph.num_nodes());
  int32_t heavies = 0;
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    heavies_before_.push_back(heavies);
    heavies += IsHeavy(graph.node(id));
    if (roles_[id] == FusionRole::kCompute) shapes_[id] = ShapeOf(graph.node(id));
  }
}

void FusionAnalysis::AssignRoles() {
  for (const ir::Node& node : graph_.nodes()) {
    roles_.push_back(RoleOf(node));
    needs_memory_.emplace_back(node.results.size(), false);
  }
}

// A value that an opaque node or the caller reads is needed in memory. A reshape shares its
// operand's; any other view must be written out, so it becomes a compute node.
void FusionAnalysis::MarkMaterialisedViews() {
  const auto mark = [&](ir::Value value) {
    while (graph_.node(value.node).op == Ops().reshape) {
      value = graph_.node(value.node).operands[0];
    }
    needs_memory_[value.node][value.output] = true;
    // A constant lies in memory as it is.
    if (graph_.node(value.node).op != Ops().constant && roles_[value.node] == FusionRole::kInline) {
      roles_[value.node] = FusionRole::kCompute;
    }
  };
  for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
    if (roles_[id] != FusionRole::kOpaque) continue;
    for (ir::Value operand : graph_.node(id).operands) mark(operand);
  }
  for (ir::Value output : graph_.outputs()) mark(output);
}

ir::Value FusionAnalysis::Leaf(ir::Value value) const {
  while (roles_[value.node] == FusionRole::kInline) {
    const ir::Node& node = graph_.node(value.node);
    if (node.operands.empty()) return {};
    value = node.operands[0];
  }
  return value;
}

void FusionAnalysis::CollectDependencies() {
  dependencies_.resize(graph_.num_nodes());
  users_.resize(graph_.num_nodes());
  for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
    if (roles_[id] == FusionRole::kInline) continue;
    std::vector<ir::Value>& leaves = dependencies_[id];
    for (ir::Value operand : graph_.node(id).operands) {
      const ir::Value leaf = Leaf(operand);
      if (leaf.node < 0 || std::find(leaves.begin(), leaves.end(), leaf) != leaves.end()) continue;
      leaves.push_back(leaf);
      std::vector<int32_t>& users = users_[leaf.node];
      if (users.empty() || users.back() != id) users.push_back(id);
    }
  }
}

bool FusionAnalysis::NeedsMemory(ir::Value value) const {
  return needs_memory_[value.node][value.output];
}

LoopShape FusionAnalysis::ShapeOf(const ir::Node& node) const {
  LoopShape shape;
  shape.elements = node.results[0].shape.num_elements();
  if (ClassOf(node) != ir::OpClass::kReduction) return shape;
  const Shape& operand = graph_.type(node.operands[0]).shape;
  const auto& axes = node.attributes.Get<std::vector<int64_t>>("axes");
  bool folds_last = false;
  bool folds_any = false;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (operand.dim(axis) == 1) continue;  // folds nothing
    folds_last = std::find(axes.begin(), axes.end(), axis) != axes.end();
    folds_any |= folds_last;
  }
  if (!folds_any) return shape;
  if (folds_last) {
    shape.form = LoopForm::kRow;
    shape.rows = shape.elements;
    shape.columns = shape.rows == 0 ? 0 : operand.num_elements() / shape.rows;
  } else {
    shape.form = LoopForm::kColumn;
    shape.operand_dims = operand.dims();
    shape.axes = axes;
  }
  return shape;
}

}  // namespace trencadis::compiler
