#include "runtime/compiler/passes/rematerialise.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/status.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/rewriter.h"

namespace trencadis::compiler {
namespace {

bool IsRepeatable(const ir::Node& node) {
  switch (ClassOf(node)) {
    case ir::OpClass::kElementwise:
    case ir::OpClass::kView:
    case ir::OpClass::kGenerator:
      return true;
    default:
      return false;
  }
}

class Rematerialiser {
 public:
  Rematerialiser(const ir::Graph& graph, const RematerialiseOptions& options)
      : graph_(graph),
        options_(options),
        rewriter_(graph),
        last_use_(graph.num_nodes(), -1),
        last_seen_(graph.num_nodes()),
        is_output_(graph.num_nodes(), false) {
    heavy_before_.push_back(0);
    for (const ir::Node& node : graph.nodes()) {
      heavy_before_.push_back(heavy_before_.back() + IsHeavy(node));
    }
    std::iota(last_seen_.begin(), last_seen_.end(), 0);
    FindLastUses();
  }

  // The rewritten graph, if anything is computed twice in it.
  absl::StatusOr<bool> Run(ir::Graph& result) {
    for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
      const ir::Node& node = graph_.node(id);
      std::vector<ir::Value> operands;
      for (ir::Value operand : node.operands) {
        if (IsBarrier(node) && !operands.empty()) {  // waits for this very value
          operands.push_back(rewriter_.Map(operand));
          continue;
        }
        TRENCADIS_ASSIGN_OR_RETURN(const ir::Value value, OperandFor(operand, id));
        operands.push_back(value);
      }
      TRENCADIS_ASSIGN_OR_RETURN(const int32_t copy, rewriter_.Add(node.op, std::move(operands),
                                                                   node.attributes, node.label));
      for (size_t i = 0; i < node.results.size(); ++i) {
        const auto output = static_cast<int32_t>(i);
        rewriter_.Replace({id, output}, {copy, output});
      }
    }
    if (!changed_) return false;
    result = rewriter_.Finish();
    return true;
  }

 private:
  struct Clone {
    ir::Value value;
    int32_t heavies = 0;  // where it was made
  };

  // A view or a barrier is no use of its own: what it shows is read when its own users run.
  void FindLastUses() {
    for (ir::Value output : graph_.outputs()) {
      last_use_[output.node] = graph_.num_nodes();
      is_output_[output.node] = true;
    }
    for (int32_t id = graph_.num_nodes() - 1; id >= 0; --id) {
      const ir::Node& node = graph_.node(id);
      const bool shows = ClassOf(node) == ir::OpClass::kView || IsBarrier(node);
      const int32_t used_at = shows ? last_use_[id] : id;
      for (ir::Value operand : node.operands) {
        last_use_[operand.node] = std::max(last_use_[operand.node], used_at);
        if (IsBarrier(node)) break;  // the others are waited for, not read
      }
    }
  }

  static bool IsBarrier(const ir::Node& node) { return ClassOf(node) == ir::OpClass::kBarrier; }

  int32_t Distance(int32_t from, int32_t to) const {
    return heavy_before_[to] - heavy_before_[from];
  }

  // What node `user` reads for `operand`: the value itself, or a repetition of it.
  absl::StatusOr<ir::Value> OperandFor(ir::Value operand, int32_t user) {
    const int32_t seen = last_seen_[operand.node];
    const auto clone = clones_.find(operand);
    const bool far = Distance(seen, user) >= options_.min_distance;
    Choices choices;
    if (!far || graph_.type(operand).byte_size() < options_.min_bytes ||
        !PaysToRepeat(operand, user, choices)) {
      last_seen_[operand.node] = user;
      return clone == clones_.end() ? rewriter_.Map(operand) : clone->second.value;
    }
    changed_ = true;
    return Repeat(operand, user, choices);
  }

  enum class Choice { kRepeat, kKeep, kImpossible };
  struct Choices {
    absl::flat_hash_map<ir::Value, Choice> by_value;
    int64_t bytes = 0;           // of the value in question, which need not be kept
    int64_t extended_bytes = 0;  // of values that are kept longer for it
    int32_t repeated_nodes = 0;
  };

  // Decides how `user` gets `value`; true if by repeating it, and notes what lives longer for that.
  bool PaysToRepeat(ir::Value value, int32_t user, Choices& choices) {
    if (ClassOf(graph_.node(value.node)) == ir::OpClass::kGenerator) return false;
    choices.bytes = graph_.type(value).byte_size();
    if (Choose(value, user, choices) != Choice::kRepeat) return false;
    bool computes = false;
    for (const auto& [chosen, choice] : choices.by_value) {
      // Repeating views alone saves nothing: they are read through anyway.
      computes |= choice == Choice::kRepeat &&
                  ClassOf(graph_.node(chosen.node)) == ir::OpClass::kElementwise;
    }
    if (!computes) return false;
    for (const auto& [chosen, choice] : choices.by_value) {
      if (choice == Choice::kKeep) last_use_[chosen.node] = std::max(last_use_[chosen.node], user);
    }
    return true;
  }

  // How node `user` gets `value`: from memory if it is small; repeated if all it is made of can be
  // had; else from memory if it is there anyway or costs less than what is saved. That a value is
  // read late is no reason to read it: its late readers may repeat it too.
  Choice Choose(ir::Value value, int32_t user, Choices& choices) const {
    const auto known = choices.by_value.find(value);
    if (known != choices.by_value.end()) return known->second;
    Choice choice = Choice::kImpossible;
    const bool is_small = graph_.type(value).byte_size() <= choices.bytes / 16;
    if (!is_small && !is_output_[value.node] && CanRepeatAt(value, user, choices)) {
      const Choices before = choices;
      ++choices.repeated_nodes;
      const auto& operands = graph_.node(value.node).operands;
      const bool possible = std::all_of(operands.begin(), operands.end(), [&](ir::Value operand) {
        return Choose(operand, user, choices) != Choice::kImpossible;
      });
      if (possible) {
        choice = Choice::kRepeat;
      } else {
        choices = before;
      }
    }
    if (choice != Choice::kRepeat && CanKeep(value, user, choices)) {
      choice = Choice::kKeep;
      if (!IsAlive(value, user)) choices.extended_bytes += graph_.type(value).byte_size();
    }
    choices.by_value[value] = choice;
    return choice;
  }

  // A quick test of one node, so that hopeless chains are not followed.
  bool CanRepeatAt(ir::Value value, int32_t user, const Choices& choices) const {
    const ir::Node& node = graph_.node(value.node);
    return IsRepeatable(node) && choices.repeated_nodes < options_.max_nodes &&
           std::all_of(node.operands.begin(), node.operands.end(), [&](ir::Value operand) {
             return IsRepeatable(graph_.node(operand.node)) || CanKeep(operand, user, choices);
           });
  }

  bool IsAlive(ir::Value value, int32_t user) const {
    return ClassOf(graph_.node(value.node)) == ir::OpClass::kInput || last_use_[value.node] >= user;
  }

  // Whether `value` is in memory at `user`, or keeping it until then costs half of what is saved.
  bool CanKeep(ir::Value value, int32_t user, const Choices& choices) const {
    return IsAlive(value, user) ||
           choices.extended_bytes + graph_.type(value).byte_size() <= choices.bytes / 2;
  }

  absl::StatusOr<ir::Value> Repeat(ir::Value value, int32_t user, const Choices& choices) {
    if (choices.by_value.at(value) != Choice::kRepeat) return rewriter_.Map(value);
    const auto made = clones_.find(value);
    if (made != clones_.end() &&
        heavy_before_[user] - made->second.heavies < options_.min_distance) {
      return made->second.value;
    }
    const ir::Node& node = graph_.node(value.node);
    std::vector<ir::Value> operands;
    for (ir::Value operand : node.operands) {
      TRENCADIS_ASSIGN_OR_RETURN(const ir::Value repeated, Repeat(operand, user, choices));
      operands.push_back(repeated);
    }
    TRENCADIS_ASSIGN_OR_RETURN(
        const ir::Value repeated,
        rewriter_.Add1(node.op, std::move(operands), node.attributes, node.label));
    clones_[value] = {repeated, heavy_before_[user]};
    last_seen_[value.node] = user;
    return repeated;
  }

  const ir::Graph& graph_;
  const RematerialiseOptions& options_;
  Rewriter rewriter_;
  bool changed_ = false;
  std::vector<int32_t> heavy_before_;  // heavy nodes before each node
  std::vector<int32_t> last_use_;      // by node: its last reader, views looked through
  std::vector<int32_t> last_seen_;     // by node: where it was made, read or repeated last
  std::vector<bool> is_output_;        // by node: in memory to the end in any case
  absl::flat_hash_map<ir::Value, Clone> clones_;
};

}  // namespace

absl::StatusOr<bool> Rematerialise::Run(ir::Graph& graph) {
  // What one round keeps alive may let the next repeat more.
  constexpr int kMaxRounds = 3;
  bool changed = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    ir::Graph result;
    TRENCADIS_ASSIGN_OR_RETURN(const bool repeated, Rematerialiser(graph, options_).Run(result));
    if (!repeated) break;
    graph = std::move(result);
    changed = true;
  }
  return changed;
}

}  // namespace trencadis::compiler
