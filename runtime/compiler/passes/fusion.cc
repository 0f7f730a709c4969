#include "runtime/compiler/passes/fusion.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/fusion.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"
#include "runtime/compiler/passes/fusion_analysis.h"
#include "runtime/compiler/passes/fusion_body.h"
#include "runtime/compiler/rewriter.h"

namespace trencadis::compiler {
namespace {

class Fuser {
 public:
  Fuser(const ir::Graph& graph, const FusionLimits& limits)
      : graph_(graph), analysis_(graph), groups_(analysis_, limits), rewriter_(graph) {}

  absl::StatusOr<ir::Graph> Run() {
    std::vector<const FusionGroup*> at_position(graph_.num_nodes(), nullptr);
    for (const FusionGroup* group : groups_.Groups()) at_position[group->position] = group;
    for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
      if (at_position[id] != nullptr) {
        TRENCADIS_RETURN_IF_ERROR(EmitGroup(*at_position[id]));
      } else if (analysis_.role(id) == FusionRole::kOpaque) {
        TRENCADIS_RETURN_IF_ERROR(EmitOpaque(id));
      }
    }
    for (ir::Value output : graph_.outputs()) TRENCADIS_RETURN_IF_ERROR(Materialise(output));
    return rewriter_.Finish();
  }

 private:
  // Makes sure that `value` stands for something in the new graph. What needs a kernel has got one
  // by now; constants and reshapes are copied.
  absl::Status Materialise(ir::Value value) {
    if (rewriter_.IsMapped(value)) return absl::OkStatus();
    const ir::Node& node = graph_.node(value.node);
    if (node.op == Ops().reshape) {
      TRENCADIS_RETURN_IF_ERROR(Materialise(node.operands[0]));
    } else if (node.op != Ops().constant) {
      return absl::InternalError(
          absl::StrCat("node ", value.node, " (", node.op->name, ") was given no kernel"));
    }
    return rewriter_.Copy(value.node);
  }

  absl::Status EmitOpaque(int32_t id) {
    for (ir::Value operand : graph_.node(id).operands) {
      TRENCADIS_RETURN_IF_ERROR(Materialise(operand));
    }
    return rewriter_.Copy(id);
  }

  absl::Status EmitGroup(const FusionGroup& group) {
    std::vector<ir::Value> outputs;
    for (int32_t member : group.members) {
      if (groups_.IsReadOutside(group, {member, 0})) outputs.push_back({member, 0});
    }
    if (outputs.empty()) return absl::OkStatus();
    std::vector<int32_t> nodes = group.members;
    nodes.insert(nodes.end(), group.repeated.begin(), group.repeated.end());
    std::sort(nodes.begin(), nodes.end());
    TRENCADIS_ASSIGN_OR_RETURN(const FusionBody body, BodyOf(nodes, outputs));
    if (codegen::CheckFusible(body.graph).ok()) return EmitBody(body, outputs);
    return EmitInPieces(nodes);
  }

  // The body of sorted compute nodes; what they read inline is part of it.
  absl::StatusOr<FusionBody> BodyOf(const std::vector<int32_t>& nodes,
                                    const std::vector<ir::Value>& outputs) const {
    return BuildFusionBody(graph_, outputs, [&](int32_t node) {
      return analysis_.role(node) == FusionRole::kInline ||
             std::binary_search(nodes.begin(), nodes.end(), node);
    });
  }

  // What others than `nodes` may read of them.
  std::vector<ir::Value> OutputsOf(const std::vector<int32_t>& nodes) const {
    std::vector<ir::Value> outputs;
    for (int32_t node : nodes) {
      const auto users = analysis_.Users(node);
      const bool is_read = std::any_of(users.begin(), users.end(), [&](int32_t user) {
        return !std::binary_search(nodes.begin(), nodes.end(), user);
      });
      if (is_read || analysis_.NeedsMemory({node, 0})) outputs.push_back({node, 0});
    }
    return outputs;
  }

  // For groups that the code generator cannot make one kernel of: as few as it can, in order.
  absl::Status EmitInPieces(const std::vector<int32_t>& nodes) {
    std::vector<int32_t> piece;
    for (int32_t node : nodes) {
      piece.push_back(node);
      TRENCADIS_ASSIGN_OR_RETURN(const FusionBody body, BodyOf(piece, OutputsOf(piece)));
      if (piece.size() == 1 || codegen::CheckFusible(body.graph).ok()) continue;
      piece.pop_back();
      TRENCADIS_RETURN_IF_ERROR(EmitPiece(piece));
      piece = {node};
    }
    return EmitPiece(piece);
  }

  absl::Status EmitPiece(const std::vector<int32_t>& piece) {
    const std::vector<ir::Value> outputs = OutputsOf(piece);
    if (outputs.empty()) return absl::OkStatus();
    TRENCADIS_ASSIGN_OR_RETURN(const FusionBody body, BodyOf(piece, outputs));
    if (piece.size() > 1 || codegen::CheckFusible(body.graph).ok()) return EmitBody(body, outputs);
    return EmitAlone(piece[0]);
  }

  // One node with its views written out first, each by its own kernel.
  absl::Status EmitAlone(int32_t id) {
    std::vector<ir::Value> operands;
    for (ir::Value operand : graph_.node(id).operands) {
      TRENCADIS_ASSIGN_OR_RETURN(const ir::Value value, WriteOut(operand));
      operands.push_back(value);
    }
    TRENCADIS_ASSIGN_OR_RETURN(const ir::Value value, EmitNode(id, std::move(operands)));
    rewriter_.Replace({id, 0}, value);
    return absl::OkStatus();
  }

  absl::StatusOr<ir::Value> WriteOut(ir::Value value) {
    if (analysis_.role(value.node) != FusionRole::kInline) return rewriter_.Map(value);
    const ir::Node& node = graph_.node(value.node);
    std::vector<ir::Value> operands;
    for (ir::Value operand : node.operands) {
      TRENCADIS_ASSIGN_OR_RETURN(const ir::Value written, WriteOut(operand));
      operands.push_back(written);
    }
    if (node.op == Ops().reshape || node.op == Ops().constant) {
      return rewriter_.Add1(node.op, std::move(operands), node.attributes, node.label);
    }
    return EmitNode(value.node, std::move(operands));
  }

  // Node `id` on values of the new graph, as a kernel of its own.
  absl::StatusOr<ir::Value> EmitNode(int32_t id, std::vector<ir::Value> operands) {
    TRENCADIS_ASSIGN_OR_RETURN(ir::Graph body, SingleNodeBody(graph_, id));
    TRENCADIS_RETURN_IF_ERROR(codegen::CheckFusible(body));
    return rewriter_.Add1(
        Ops().fusion, std::move(operands),
        {{"body", ir::GraphPtr(std::make_shared<const ir::Graph>(std::move(body)))}},
        graph_.node(id).label);
  }

  absl::Status EmitBody(const FusionBody& body, const std::vector<ir::Value>& outputs) {
    std::vector<ir::Value> operands;
    for (ir::Value operand : body.operands) {
      TRENCADIS_RETURN_IF_ERROR(Materialise(operand));
      operands.push_back(rewriter_.Map(operand));
    }
    TRENCADIS_ASSIGN_OR_RETURN(
        const int32_t fusion,
        rewriter_.Add(Ops().fusion, std::move(operands),
                      {{"body", ir::GraphPtr(std::make_shared<const ir::Graph>(body.graph))}},
                      graph_.node(outputs.back().node).label));
    for (size_t i = 0; i < outputs.size(); ++i) {
      rewriter_.Replace(outputs[i], {fusion, static_cast<int32_t>(i)});
    }
    return absl::OkStatus();
  }

  const ir::Graph& graph_;
  FusionAnalysis analysis_;
  FusionGroups groups_;
  Rewriter rewriter_;
};

}  // namespace

absl::StatusOr<bool> Fusion::Run(ir::Graph& graph) {
  TRENCADIS_ASSIGN_OR_RETURN(ir::Graph fused, Fuser(graph, limits_).Run());
  if (fused == graph) return false;
  graph = std::move(fused);
  return true;
}

}  // namespace trencadis::compiler
