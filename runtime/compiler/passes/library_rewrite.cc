#include "runtime/compiler/passes/library_rewrite.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"
#include "runtime/compiler/rewriter.h"

namespace trencadis::compiler {
namespace {

using Ints = std::vector<int64_t>;

// If `value` is a transpose of the last two axes: what it transposes.
std::optional<ir::Value> UntransposedOperand(const ir::Graph& graph, ir::Value value) {
  const ir::Node& node = graph.node(value.node);
  if (node.op != Ops().transpose) return std::nullopt;
  const Ints& permutation = node.attributes.Get<Ints>("permutation");
  const int64_t rank = permutation.size();
  if (rank < 2) return std::nullopt;
  for (int64_t i = 0; i < rank - 2; ++i) {
    if (permutation[i] != i) return std::nullopt;
  }
  if (permutation[rank - 1] != rank - 2) return std::nullopt;
  return node.operands[0];
}

absl::StatusOr<std::optional<ir::Value>> FoldTransposes(Rewriter& rewriter, int32_t id) {
  const ir::Node& node = rewriter.source().node(id);
  if (node.op != Ops().matmul) return std::nullopt;
  std::vector<ir::Value> operands = rewriter.MapOperands(id);
  ir::Attributes attributes = node.attributes;
  bool changed = false;
  const auto fold = [&](int i, absl::string_view flag) {
    const auto source = UntransposedOperand(rewriter.graph(), operands[i]);
    if (!source.has_value()) return;
    operands[i] = *source;
    const bool transposed = !attributes.GetOr<bool>(flag, false);
    attributes.Erase(flag);
    if (transposed) attributes.Set(flag, true);
    changed = true;
  };
  // A transposed a cannot lend its leading axes to a single b's rows.
  const auto rank = [&](int i) { return rewriter.graph().type(operands[i]).shape.rank(); };
  if (rank(0) == 2 || rank(1) > 2) fold(0, "transpose_a");
  fold(1, "transpose_b");
  if (!changed) return std::nullopt;
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value value,
      rewriter.Add1(node.op, std::move(operands), std::move(attributes), node.label));
  return value;
}

// Finds the epilogue of each product of a graph and builds the graph with the products' bodies.
class EpilogueFolder {
 public:
  explicit EpilogueFolder(const ir::Graph& graph)
      : graph_(graph), uses_(graph), rewriter_(graph), absorbed_(graph.num_nodes(), false) {}

  absl::StatusOr<bool> Run(ir::Graph& result) {
    bool changed = false;
    plans_.resize(graph_.num_nodes());
    for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
      if (graph_.node(id).op == Ops().matmul) changed |= PlanEpilogue(id);
    }
    if (!changed) return false;
    for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
      if (absorbed_[id]) continue;
      TRENCADIS_RETURN_IF_ERROR(plans_[id].empty() ? rewriter_.Copy(id) : EmitProduct(id));
    }
    result = rewriter_.Finish();
    return true;
  }

 private:
  // An op of the epilogue, and which of its operands is the value so far.
  struct Link {
    int32_t node = -1;
    int chained_operand = 0;
  };

  // The single node that reads `value`, with the operand's index.
  std::optional<Use> OnlyUse(ir::Value value) const {
    const auto uses = uses_.Of(value);
    if (uses.size() != 1 || uses[0].user < 0) return std::nullopt;
    return uses[0];
  }

  // Whether `value` is in memory whatever happens to the node that follows product `id`.
  bool IsMaterialised(ir::Value value, int32_t id) const {
    if (value.node >= id) return false;
    while (graph_.node(value.node).op == Ops().reshape ||
           ClassOf(graph_.node(value.node)) == ir::OpClass::kBarrier) {
      value = graph_.node(value.node).operands[0];
    }
    switch (ClassOf(graph_.node(value.node))) {
      case ir::OpClass::kInput:
      case ir::OpClass::kContraction:
      case ir::OpClass::kIndexing:
      case ir::OpClass::kComposite:
        return true;
      default:
        return absorbed_[value.node];  // the last op of another product's epilogue
    }
  }

  // Whether broadcast `node` lays a vector of materialised numbers along the last axis.
  bool IsBias(const ir::Node& node, int32_t id) const {
    if (node.op != Ops().broadcast) return false;
    const Ints& axes = node.attributes.Get<Ints>("axes");
    const TensorType& source = graph_.type(node.operands[0]);
    const int last = node.results[0].shape.rank() - 1;
    return axes.size() == 1 && axes[0] == last &&
           source.shape.dim(0) == node.results[0].shape.dim(last) &&
           IsMaterialised(node.operands[0], id);
  }

  bool IsScalar(const ir::Node& node, int32_t id) const {
    return node.op == Ops().broadcast && graph_.type(node.operands[0]).shape.rank() == 0 &&
           IsMaterialised(node.operands[0], id);
  }

  // Whether the library's epilogue of product `id` may do what `node` does to its operand
  // `chained`.
  bool Folds(const ir::Node& node, int chained, int32_t id) const {
    if (node.op == Ops().relu) return true;
    if (node.op != Ops().add && node.op != Ops().mul) return false;
    const ir::Value other = node.operands[1 - chained];
    const ir::Node& producer = graph_.node(other.node);
    if (node.op == Ops().mul && (SplatValue(graph_, other).has_value() || IsScalar(producer, id))) {
      return true;
    }
    if (node.op == Ops().add && IsBias(producer, id)) return true;
    return IsMaterialised(other, id);
  }

  // The ops that product `id` takes over; true if there are any.
  bool PlanEpilogue(int32_t id) {
    if (graph_.node(id).results[0].dtype != DType::kF32) return false;
    ir::Value value{id, 0};
    std::vector<Link>& plan = plans_[id];
    while (const std::optional<Use> use = OnlyUse(value)) {
      const ir::Node& node = graph_.node(use->user);
      if (ClassOf(node) != ir::OpClass::kElementwise || node.results[0] != graph_.type(value) ||
          !Folds(node, use->operand, id)) {
        break;
      }
      plan.push_back({use->user, use->operand});
      absorbed_[use->user] = true;
      value = {use->user, 0};
    }
    return !plan.empty();
  }

  absl::Status EmitProduct(int32_t id);
  ir::Value OperandOf(const Link& link, std::vector<ir::Value>& outer) const;
  static absl::StatusOr<ir::Value> AddScalar(ir::Graph& body, double number);
  static absl::StatusOr<ir::Value> AddBroadcast(ir::Graph& body, ir::Value value,
                                                const Shape& shape);

  const ir::Graph& graph_;
  UseLists uses_;
  Rewriter rewriter_;
  std::vector<bool> absorbed_;            // by node
  std::vector<std::vector<Link>> plans_;  // by product
};

// Builds the body: the product, then its plan's ops. Broadcasts of epilogue operands go into it.
absl::Status EpilogueFolder::EmitProduct(int32_t id) {
  const ir::Node& product = graph_.node(id);
  const std::vector<Link>& plan = plans_[id];
  ir::Graph body;
  std::vector<ir::Value> outer = product.operands;  // what the body's inputs stand for
  std::vector<ir::Value> extras;                    // per link: its other operand, if an input
  for (const Link& link : plan) extras.push_back(OperandOf(link, outer));
  for (ir::Value value : outer) body.AddInput(graph_.type(value));
  int32_t next_input = 2;
  TRENCADIS_ASSIGN_OR_RETURN(int32_t last, body.AddNode(product.op, {body.input(0), body.input(1)},
                                                        product.attributes, product.label));
  for (size_t i = 0; i < plan.size(); ++i) {
    const ir::Node& node = graph_.node(plan[i].node);
    std::vector<ir::Value> operands = {{last, 0}};
    if (node.operands.size() == 2) {
      const bool from_outside = extras[i].node >= 0;
      ir::Value inner = from_outside ? body.input(next_input++) : ir::Value{};
      const ir::Value other = node.operands[1 - plan[i].chained_operand];
      if (!from_outside) {
        TRENCADIS_ASSIGN_OR_RETURN(inner, AddScalar(body, *SplatValue(graph_, other)));
      }
      TRENCADIS_ASSIGN_OR_RETURN(inner, AddBroadcast(body, inner, graph_.type(other).shape));
      operands.push_back(inner);
    }
    TRENCADIS_ASSIGN_OR_RETURN(
        last, body.AddNode(node.op, std::move(operands), node.attributes, node.label));
  }
  body.SetOutputs({{last, 0}});
  std::vector<ir::Value> operands;
  for (ir::Value value : outer) operands.push_back(rewriter_.Map(value));
  TRENCADIS_ASSIGN_OR_RETURN(
      const ir::Value result,
      rewriter_.Add1(Ops().fusion, std::move(operands),
                     {{"body", ir::GraphPtr(std::make_shared<const ir::Graph>(std::move(body)))}},
                     product.label));
  rewriter_.Replace({plan.back().node, 0}, result);
  return absl::OkStatus();
}

// The value outside that `link` reads beside the product, added to `outer`; an invalid one when it
// reads none or a constant.
ir::Value EpilogueFolder::OperandOf(const Link& link, std::vector<ir::Value>& outer) const {
  const ir::Node& node = graph_.node(link.node);
  if (node.operands.size() < 2) return {};
  ir::Value other = node.operands[1 - link.chained_operand];
  if (SplatValue(graph_, other).has_value()) return {};
  const ir::Node& producer = graph_.node(other.node);
  if (producer.op == Ops().broadcast) other = producer.operands[0];
  outer.push_back(other);
  return other;
}

absl::StatusOr<ir::Value> EpilogueFolder::AddScalar(ir::Graph& body, double number) {
  auto literal = std::make_shared<Literal>(TensorType{DType::kF32, Shape{}});
  literal->SetDouble(0, number);
  TRENCADIS_ASSIGN_OR_RETURN(
      const int32_t node,
      body.AddNode(Ops().constant, {}, {{"value", ir::LiteralPtr(std::move(literal))}}));
  return ir::Value{node, 0};
}

// `value`, a scalar or a row, as a tensor of `shape`; itself if it has that shape.
absl::StatusOr<ir::Value> EpilogueFolder::AddBroadcast(ir::Graph& body, ir::Value value,
                                                       const Shape& shape) {
  if (body.type(value).shape == shape) return value;
  const Ints axes = body.type(value).shape.rank() == 0 ? Ints{} : Ints{shape.rank() - 1};
  TRENCADIS_ASSIGN_OR_RETURN(
      const int32_t node,
      body.AddNode(Ops().broadcast, {value}, {{"shape", shape.dims()}, {"axes", axes}}));
  return ir::Value{node, 0};
}

// f32 result of a bf16 product, rounded to bf16 and used for nothing else.
absl::StatusOr<bool> FoldConversions(ir::Graph& graph) {
  const UseLists uses(graph);
  const auto rule = [&](Rewriter& rewriter,
                        int32_t id) -> absl::StatusOr<std::optional<ir::Value>> {
    const ir::Node& node = graph.node(id);
    if (node.op != Ops().convert || node.results[0].dtype != DType::kBF16) return std::nullopt;
    const ir::Node& product = graph.node(node.operands[0].node);
    if (product.op != Ops().matmul || uses.Of(node.operands[0]).size() != 1 ||
        graph.type(product.operands[0]).dtype != DType::kBF16) {
      return std::nullopt;
    }
    ir::Attributes attributes = product.attributes;
    attributes.Erase("dtype");
    TRENCADIS_ASSIGN_OR_RETURN(
        const ir::Value value,
        rewriter.Add1(product.op, rewriter.MapOperands(node.operands[0].node),
                      std::move(attributes), product.label));
    return value;
  };
  return RewriteNodes(graph, rule);
}

}  // namespace

absl::StatusOr<bool> LibraryRewrite::Run(ir::Graph& graph) {
  ir::Graph work = graph;
  TRENCADIS_ASSIGN_OR_RETURN(bool changed, RewriteNodes(work, FoldTransposes));
  TRENCADIS_ASSIGN_OR_RETURN(const bool converted, FoldConversions(work));
  changed |= converted;
  ir::Graph folded;
  TRENCADIS_ASSIGN_OR_RETURN(const bool has_epilogues, EpilogueFolder(work).Run(folded));
  if (has_epilogues) work = std::move(folded);
  if (changed || has_epilogues) graph = std::move(work);
  return changed || has_epilogues;
}

}  // namespace trencadis::compiler
