#include "runtime/codegen/loop_body.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/body_form.h"

namespace trencadis::codegen {
namespace {

using Ints = std::vector<int64_t>;

constexpr int kMaxNodes = 1024;
constexpr int kMaxExprs = 8192;
constexpr int kMaxVariables = 64;
constexpr int64_t kMaxTableBytes = 1 << 16;

bool IsUniform(const Literal& literal) {
  const int64_t size = ByteSize(literal.dtype());
  const auto bytes = literal.bytes();
  // Equal to itself one element further on.
  return !bytes.empty() && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

// One attempt at writing the graph over variables with given extents. An attempt that meets a
// reshape inside a variable asks for that variable's split; the caller tries again with it.
class Attempt {
 public:
  Attempt(const ir::Graph& graph, BodyForm form, const std::vector<Ints>& group_extents)
      : graph_(graph), known_(graph.num_nodes()) {
    body_.form = form;
    body_.graph = &graph;
    for (const Ints& extents : group_extents) {
      body_.groups.emplace_back();
      for (int64_t extent : extents) {
        body_.groups.back().push_back(static_cast<int>(body_.extents.size()));
        body_.extents.push_back(extent);
      }
    }
  }

  absl::Status Run() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      TRENCADIS_RETURN_IF_ERROR(AddStore(static_cast<int>(i)));
    }
    return absl::OkStatus();
  }
  VariableSplit split() const { return split_; }
  LoopBody Take() { return std::move(body_); }

 private:
  absl::Status AddStore(int output);
  absl::StatusOr<int> ExprOf(ir::Value value, const ElementIndex& index);
  absl::StatusOr<Expr> MakeExpr(ir::Value value, const ElementIndex& index);
  absl::StatusOr<Expr> MakeGenerator(ir::Value value, const ElementIndex& index);
  absl::StatusOr<Expr> MakeReduction(ir::Value value, const ElementIndex& index);
  absl::StatusOr<ElementIndex> FoldedIndex(const ir::Node& node, int group);
  int GroupFolding(const ReductionAxes& axes) const;

  const ir::Graph& graph_;
  LoopBody body_;
  VariableSplit split_;
  // Expressions made so far of each node, by the offset they are evaluated at.
  std::vector<std::vector<std::pair<Affine, int>>> known_;
};

absl::Status Attempt::AddStore(int output) {
  const ir::Value value = graph_.outputs()[output];
  const int64_t count = graph_.type(value).shape.num_elements();
  const int64_t outer = body_.GroupCount(0);
  Store store{output, -1, body_.GroupLinear(0), 0};
  if (count != outer) {
    const int groups = static_cast<int>(body_.groups.size());
    int group = 1;
    while (group < groups && count != outer * body_.GroupCount(group)) ++group;
    if (group == groups || body_.form != BodyForm::kRow) {
      return CannotFuse(graph_, value.node,
                        absl::StrCat("as an output its ", count,
                                     " elements fit neither the loop's ", outer, " nor its rows"));
    }
    for (const ir::Node& node : graph_.nodes()) {
      if (node.op->traits.op_class != ir::OpClass::kReduction ||
          GroupFolding(AxesOf(graph_, node)) != group) {
        continue;
      }
      TRENCADIS_ASSIGN_OR_RETURN(const ElementIndex index, FoldedIndex(node, group));
      store.index = index.Linear();
      store.group = group;
      break;
    }
  }
  TRENCADIS_ASSIGN_OR_RETURN(store.expr, ExprOf(value, {{count}, {store.index}}));
  body_.stores.push_back(std::move(store));
  return absl::OkStatus();
}

absl::StatusOr<int> Attempt::ExprOf(ir::Value value, const ElementIndex& index) {
  const ir::Node& node = graph_.node(value.node);
  if (node.op->traits.op_class == ir::OpClass::kView) {
    TRENCADIS_ASSIGN_OR_RETURN(
        const ElementIndex operand,
        OperandIndex(node, graph_.type(node.operands[0]).shape, index, body_.extents, split_));
    return ExprOf(node.operands[0], operand);
  }
  const Affine linear = index.Linear();
  for (const auto& [offset, expr] : known_[value.node]) {
    if (offset == linear) return expr;
  }
  TRENCADIS_ASSIGN_OR_RETURN(Expr expr, MakeExpr(value, index));
  if (body_.exprs.size() >= kMaxExprs) {
    return CannotFuse(graph_, value.node, "its views make the body too large");
  }
  expr.dtype = graph_.type(value).dtype;
  const int id = static_cast<int>(body_.exprs.size());
  body_.exprs.push_back(std::move(expr));
  known_[value.node].emplace_back(linear, id);
  return id;
}

absl::StatusOr<Expr> Attempt::MakeExpr(ir::Value value, const ElementIndex& index) {
  const ir::Node& node = graph_.node(value.node);
  Expr expr{.node = &node};
  switch (node.op->traits.op_class) {
    case ir::OpClass::kInput:
      expr.kind = Expr::Kind::kLoad;
      expr.source = value.node;
      expr.index = index.Linear();
      return expr;
    case ir::OpClass::kGenerator:
      return MakeGenerator(value, index);
    case ir::OpClass::kElementwise:
      if (node.op->scalar == nullptr) return CannotFuse(graph_, value.node, "no scalar form");
      expr.kind = Expr::Kind::kOp;
      for (ir::Value operand : node.operands) {
        TRENCADIS_ASSIGN_OR_RETURN(const int id, ExprOf(operand, index));
        expr.operands.push_back(id);
      }
      return expr;
    case ir::OpClass::kReduction:
      return MakeReduction(value, index);
    default:
      return CannotFuse(graph_, value.node, "it needs a kernel of its own");
  }
}

absl::StatusOr<Expr> Attempt::MakeGenerator(ir::Value value, const ElementIndex& index) {
  const ir::Node& node = graph_.node(value.node);
  Expr expr{.node = &node};
  if (node.op->name == "iota") {
    TRENCADIS_ASSIGN_OR_RETURN(
        const ElementIndex shaped,
        Reshaped(index, node.results[0].shape.dims(), body_.extents, split_));
    expr.kind = Expr::Kind::kIota;
    expr.index = shaped.dims[node.attributes.Get<int64_t>("axis")];
    return expr;
  }
  const Literal& literal = *node.attributes.Get<ir::LiteralPtr>("value");
  if (IsUniform(literal)) {
    expr.kind = Expr::Kind::kSplat;
    return expr;
  }
  if (literal.type().byte_size() > kMaxTableBytes) {
    return CannotFuse(graph_, value.node, "a constant this large belongs in a buffer");
  }
  expr.kind = Expr::Kind::kTable;
  expr.index = index.Linear();
  return expr;
}

int Attempt::GroupFolding(const ReductionAxes& axes) const {
  for (int group = 1; group < static_cast<int>(body_.groups.size()); ++group) {
    if (body_.GroupCount(group) == axes.folded_count) return group;
  }
  return -1;
}

// The element of a reduction's operand that the current variables stand for.
absl::StatusOr<ElementIndex> Attempt::FoldedIndex(const ir::Node& node, int group) {
  const ReductionAxes axes = AxesOf(graph_, node);
  const Shape& shape = graph_.type(node.operands[0]).shape;
  TRENCADIS_ASSIGN_OR_RETURN(const ElementIndex kept,
                             Delinearize(body_.GroupLinear(0), axes.kept, body_.extents, split_));
  TRENCADIS_ASSIGN_OR_RETURN(
      const ElementIndex folded,
      Delinearize(body_.GroupLinear(group), axes.folded, body_.extents, split_));
  ElementIndex index{shape.dims(), std::vector<Affine>(shape.rank())};
  for (size_t i = 0; i < axes.kept.size(); ++i) index.dims[axes.kept_axes[i]] = kept.dims[i];
  for (size_t i = 0; i < axes.folded.size(); ++i) index.dims[axes.folded_axes[i]] = folded.dims[i];
  return index;
}

absl::StatusOr<Expr> Attempt::MakeReduction(ir::Value value, const ElementIndex& index) {
  const ir::Node& node = graph_.node(value.node);
  if (!(index.Linear() == body_.GroupLinear(0))) {
    return CannotFuse(graph_, value.node, "its result is needed beyond its own row");
  }
  Reduction reduction{&node, node.op->traits.reduce, node.results[0].dtype, -1, 1};
  reduction.group = GroupFolding(AxesOf(graph_, node));
  TRENCADIS_ASSIGN_OR_RETURN(const ElementIndex folded, FoldedIndex(node, reduction.group));
  TRENCADIS_ASSIGN_OR_RETURN(reduction.operand, ExprOf(node.operands[0], folded));
  Expr expr{.kind = Expr::Kind::kReduction, .node = &node};
  expr.source = static_cast<int>(body_.reductions.size());
  body_.reductions.push_back(std::move(reduction));
  return expr;
}

absl::Status CheckGraph(const ir::Graph& graph) {
  if (graph.outputs().empty()) return absl::UnimplementedError("cannot fuse: nothing is computed");
  if (graph.num_nodes() > kMaxNodes) {
    return absl::UnimplementedError(absl::StrCat("cannot fuse: ", graph.num_nodes(),
                                                 " nodes; at most ", kMaxNodes, " make a kernel"));
  }
  return absl::OkStatus();
}

// Splits variable `split.variable`, counted over all groups.
void ApplySplit(const VariableSplit& split, std::vector<Ints>& group_extents) {
  int variable = split.variable;
  for (Ints& extents : group_extents) {
    if (variable >= static_cast<int>(extents.size())) {
      variable -= static_cast<int>(extents.size());
      continue;
    }
    extents[variable] /= split.inner;
    extents.insert(extents.begin() + variable + 1, split.inner);
    return;
  }
}

// True when `index` walks variables v and v+1 as one.
bool Merges(const Affine& index, int v, int64_t inner_extent) {
  return index.coefficient(v) == index.coefficient(v + 1) * inner_extent;
}

void RemoveVariable(Affine& index, int v) {
  if (v < static_cast<int>(index.coefficients.size())) {
    index.coefficients.erase(index.coefficients.begin() + v);
  }
}

// Merges adjacent variables of a group wherever every access walks them as one.
void MergeVariables(LoopBody& body) {
  for (int v = static_cast<int>(body.extents.size()) - 2; v >= 0; --v) {
    auto group = std::find_if(body.groups.begin(), body.groups.end(), [v](const auto& variables) {
      return std::find(variables.begin(), variables.end(), v) != variables.end();
    });
    if (group->back() == v) continue;
    const int64_t inner = body.extents[v + 1];
    const bool merges =
        std::all_of(body.exprs.begin(), body.exprs.end(),
                    [&](const Expr& expr) { return Merges(expr.index, v, inner); }) &&
        std::all_of(body.stores.begin(), body.stores.end(),
                    [&](const Store& store) { return Merges(store.index, v, inner); });
    if (!merges) continue;
    for (Expr& expr : body.exprs) RemoveVariable(expr.index, v);
    for (Store& store : body.stores) RemoveVariable(store.index, v);
    body.extents[v] *= inner;
    body.extents.erase(body.extents.begin() + v + 1);
    group->pop_back();
    for (auto next = group + 1; next != body.groups.end(); ++next) {
      for (int& variable : *next) --variable;
    }
  }
}

void FindDependences(LoopBody& body) {
  for (Expr& expr : body.exprs) {
    if (expr.kind == Expr::Kind::kReduction) {
      expr.variables = body.GroupMask(0);
      expr.after_reduction = true;
    }
    for (int v = 0; v < static_cast<int>(body.extents.size()); ++v) {
      if (expr.index.DependsOn(v)) expr.variables |= uint64_t{1} << v;
    }
    for (int operand : expr.operands) {
      expr.variables |= body.exprs[operand].variables;
      expr.after_reduction |= body.exprs[operand].after_reduction;
    }
  }
}

// A column kernel folds once.
absl::Status CheckColumns(const LoopBody& body) {
  for (const Reduction& reduction : body.reductions) {
    if (body.form == BodyForm::kColumn && body.exprs[reduction.operand].after_reduction) {
      return absl::UnimplementedError(
          absl::StrCat("cannot fuse ", reduction.node->op->name,
                       " over leading axes with another that it needs the result of"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

int64_t LoopBody::GroupCount(int group) const {
  int64_t count = 1;
  for (int v : groups[group]) count *= extents[v];
  return count;
}

uint64_t LoopBody::GroupMask(int group) const {
  uint64_t mask = 0;
  for (int v : groups[group]) mask |= uint64_t{1} << v;
  return mask;
}

Affine LoopBody::GroupLinear(int group) const {
  Affine linear;
  int64_t stride = 1;
  for (auto v = groups[group].rbegin(); v != groups[group].rend(); ++v) {
    linear.AddTerm(*v, stride);
    stride *= extents[*v];
  }
  return linear;
}

absl::StatusOr<LoopBody> LoopBody::Build(const ir::Graph& graph) {
  TRENCADIS_RETURN_IF_ERROR(CheckGraph(graph));
  TRENCADIS_ASSIGN_OR_RETURN(LoopForm form, FormOf(graph));
  size_t variables = 0;
  for (const Ints& extents : form.group_extents) variables += extents.size();
  while (variables <= kMaxVariables) {
    Attempt attempt(graph, form.form, form.group_extents);
    const absl::Status status = attempt.Run();
    if (status.ok()) {
      LoopBody body = attempt.Take();
      MergeVariables(body);
      FindDependences(body);
      TRENCADIS_RETURN_IF_ERROR(CheckColumns(body));
      return body;
    }
    if (attempt.split().variable < 0) return status;
    ApplySplit(attempt.split(), form.group_extents);
    ++variables;
  }
  return absl::UnimplementedError("cannot fuse: the body's reshapes need too many loops");
}

}  // namespace trencadis::codegen
