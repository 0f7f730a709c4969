#include "runtime/codegen/body_form.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trencadis::codegen {
namespace {

using Ints = std::vector<int64_t>;

// Rows need only be as many; columns are walked together, element by element.
bool ShareLoops(BodyForm form, const ReductionAxes& a, const ReductionAxes& b) {
  if (form == BodyForm::kRow) return a.kept_count == b.kept_count;
  return a.kept == b.kept && a.folded == b.folded && a.folded_axes == b.folded_axes;
}

Ints WithoutOnes(const Shape& shape) {
  Ints dims;
  std::copy_if(shape.dims().begin(), shape.dims().end(), std::back_inserter(dims),
               [](int64_t dim) { return dim != 1; });
  return dims;
}

}  // namespace

ReductionAxes AxesOf(const ir::Graph& graph, const ir::Node& reduction) {
  const Shape& shape = graph.type(reduction.operands[0]).shape;
  const Ints& axes = reduction.attributes.Get<Ints>("axes");
  ReductionAxes result;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape.dim(axis) == 1) continue;
    const bool folds = std::find(axes.begin(), axes.end(), axis) != axes.end();
    (folds ? result.folded : result.kept).push_back(shape.dim(axis));
    (folds ? result.folded_axes : result.kept_axes).push_back(axis);
    (folds ? result.folded_count : result.kept_count) *= shape.dim(axis);
    result.folds_last = folds;
  }
  if (result.folded.empty()) result.folds_last = true;
  return result;
}

absl::StatusOr<LoopForm> FormOf(const ir::Graph& graph) {
  LoopForm result;
  std::vector<ReductionAxes> reductions;
  for (int32_t i = 0; i < graph.num_nodes(); ++i) {
    const ir::Node& node = graph.node(i);
    if (node.op->traits.op_class != ir::OpClass::kReduction) continue;
    const ReductionAxes axes = AxesOf(graph, node);
    const BodyForm form = axes.folds_last ? BodyForm::kRow : BodyForm::kColumn;
    if (reductions.empty()) {
      result.form = form;
      result.group_extents = {axes.kept};
    }
    if (form != result.form || (!reductions.empty() && !ShareLoops(form, reductions[0], axes))) {
      return CannotFuse(graph, i, "it and an earlier reduction run over different loops");
    }
    const bool known = std::any_of(reductions.begin(), reductions.end(), [&](const auto& other) {
      return other.folded_count == axes.folded_count;
    });
    if (!known) result.group_extents.push_back(axes.folded);
    reductions.push_back(axes);
  }
  if (reductions.empty()) {
    result.group_extents = {WithoutOnes(graph.type(graph.outputs()[0]).shape)};
  }
  for (size_t group = 0; group < result.group_extents.size(); ++group) {
    const bool needs_variable = group > 0 || result.form != BodyForm::kRow;
    if (result.group_extents[group].empty() && needs_variable) result.group_extents[group] = {1};
  }
  return result;
}

absl::Status CannotFuse(const ir::Graph& graph, int32_t node, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("cannot fuse node ", node, " (", graph.node(node).op->name, "): ", why));
}

}  // namespace trencadis::codegen
