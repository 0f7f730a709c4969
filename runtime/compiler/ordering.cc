#include "runtime/compiler/ordering.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"
#include "runtime/compiler/storage.h"

namespace trencadis::compiler {
namespace {

// Nodes looked at when asking whether one depends on another; beyond, "maybe" is the answer.
constexpr size_t kMaxVisited = 256;

class ProblemBuilder {
 public:
  ProblemBuilder(const ir::Graph& graph, const std::vector<bool>& donated, StepLowering& lowering)
      : graph_(graph), donated_(donated), lowering_(lowering), users_(graph.num_nodes()) {}

  ScheduleProblem Build() {
    AddDependencies();
    CollectReaders();
    for (const auto& [root, readers] : readers_) AddValue(root, readers);
    // The map's order is not stable; the scheduler's answer must be.
    std::sort(problem_.values.begin(), problem_.values.end(), [](const auto& a, const auto& b) {
      return std::tie(a.producer, a.bytes, a.readers) < std::tie(b.producer, b.bytes, b.readers);
    });
    for (int32_t input = 0; input < graph_.num_inputs(); ++input) {
      if (donated_[input]) AddPreferences(input);
    }
    return std::move(problem_);
  }

 private:
  void AddDependencies() {
    problem_.predecessors.resize(graph_.num_nodes());
    for (int32_t id = 0; id < graph_.num_nodes(); ++id) {
      std::vector<int32_t>& before = problem_.predecessors[id];
      for (ir::Value operand : graph_.node(id).operands) before.push_back(operand.node);
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      for (int32_t node : before) users_[node].push_back(id);
    }
  }

  // The steps that read each root, in program order.
  void CollectReaders() {
    for (int32_t id = graph_.num_inputs(); id < graph_.num_nodes(); ++id) {
      if (!lowering_.IsStep(id)) continue;
      for (ir::Value operand : graph_.node(id).operands) {
        std::vector<int32_t>& readers = readers_[RootOf(graph_, operand)];
        if (readers.empty() || readers.back() != id) readers.push_back(id);
      }
    }
    for (ir::Value output : graph_.outputs()) outputs_.insert(RootOf(graph_, output));
  }

  // Arguments and outputs take their memory whatever the order.
  void AddValue(ir::Value root, const std::vector<int32_t>& readers) {
    if (root.node < graph_.num_inputs() || graph_.node(root.node).op == Ops().constant ||
        outputs_.contains(root)) {
      return;
    }
    problem_.values.push_back(
        {static_cast<uint64_t>(graph_.type(root).byte_size()), root.node, readers});
  }

  void AddPreferences(int32_t input) {
    const auto it = readers_.find(graph_.input(input));
    if (it == readers_.end() || it->second.size() < 2) return;
    const int32_t updater = UpdaterOf(input, it->second);
    if (updater < 0) return;
    for (int32_t reader : it->second) {
      if (reader != updater && MayReach(updater, reader)) return;
    }
    for (int32_t reader : it->second) {
      if (reader != updater) problem_.preferences.emplace_back(reader, updater);
    }
  }

  // The last reader that can make an output in the input's memory, or -1.
  int32_t UpdaterOf(int32_t input, const std::vector<int32_t>& readers) {
    const int64_t bytes = graph_.type(graph_.input(input)).byte_size();
    for (auto reader = readers.rbegin(); reader != readers.rend(); ++reader) {
      const ir::Node& node = graph_.node(*reader);
      for (int result = 0; result < static_cast<int>(node.results.size()); ++result) {
        if (!outputs_.contains({*reader, result}) || node.results[result].byte_size() != bytes) {
          continue;
        }
        for (int i = 0; i < static_cast<int>(node.operands.size()); ++i) {
          if (RootOf(graph_, node.operands[i]) == graph_.input(input) &&
              lowering_.MayOverwrite(*reader, i, result)) {
            return *reader;
          }
        }
      }
    }
    return -1;
  }

  // Whether `to` depends on `from`, or that would take long to find out.
  bool MayReach(int32_t from, int32_t to) const {
    std::vector<int32_t> pending = {from};
    absl::flat_hash_set<int32_t> seen = {from};
    while (!pending.empty()) {
      const int32_t node = pending.back();
      pending.pop_back();
      if (node == to || seen.size() > kMaxVisited) return true;
      for (int32_t user : users_[node]) {
        if (user <= to && seen.insert(user).second) pending.push_back(user);
      }
    }
    return false;
  }

  const ir::Graph& graph_;
  const std::vector<bool>& donated_;
  StepLowering& lowering_;
  ScheduleProblem problem_;
  std::vector<std::vector<int32_t>> users_;  // by node
  absl::flat_hash_map<ir::Value, std::vector<int32_t>> readers_;
  absl::flat_hash_set<ir::Value> outputs_;  // roots of the graph's outputs
};

}  // namespace

ScheduleProblem ScheduleProblemOf(const ir::Graph& graph, const std::vector<bool>& donated,
                                  StepLowering& lowering) {
  return ProblemBuilder(graph, donated, lowering).Build();
}

std::vector<int32_t> OrderSteps(const ir::Graph& graph, const std::vector<bool>& donated,
                                StepLowering& lowering) {
  std::vector<int32_t> steps;
  for (int32_t node : Schedule(ScheduleProblemOf(graph, donated, lowering))) {
    if (lowering.IsStep(node)) steps.push_back(node);
  }
  return steps;
}

}  // namespace trencadis::compiler
