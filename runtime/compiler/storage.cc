#include "runtime/compiler/storage.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/ops_used.h"

namespace trencadis::compiler {
namespace {

constexpr int32_t kForever = std::numeric_limits<int32_t>::max();

class Assigner {
 public:
  Assigner(const StorageRequest& request, MayOverwrite may_overwrite)
      : request_(request), graph_(*request.graph), may_overwrite_(may_overwrite) {
    for (const ir::Node& node : graph_.nodes()) {
      last_use_.emplace_back(node.results.size(), -1);
      output_of_.emplace_back(node.results.size(), -1);
      storage_.places.emplace_back(node.results.size());
    }
    input_taken_.assign(graph_.num_inputs(), false);
    head_.assign(graph_.outputs().size(), -1);
  }

  Storage Run() {
    FindLastUses();
    AssignOutputs();
    if (request_.reuse) {
      for (int32_t step = NumSteps() - 1; step >= 0; --step) ExtendOutputs(step);
      DonateTheDead();
    }
    PlaceInputsAndConstants();
    for (int32_t step = 0; step < NumSteps(); ++step) PlaceResults(step);
    if (!request_.reuse) {
      for (Lifetime& buffer : storage_.buffers) buffer.last = NumSteps() - 1;
    }
    return std::move(storage_);
  }

 private:
  int32_t NumSteps() const { return static_cast<int32_t>(request_.steps.size()); }
  ir::Value Root(ir::Value value) const { return RootOf(graph_, value); }
  const ir::Node& StepNode(int32_t step) const { return graph_.node(request_.steps[step]); }
  int32_t& LastUse(ir::Value root) { return last_use_[root.node][root.output]; }
  int32_t& OutputOf(ir::Value root) { return output_of_[root.node][root.output]; }
  Place& PlaceOf(ir::Value root) { return storage_.places[root.node][root.output]; }
  bool IsInput(ir::Value root) const { return root.node < graph_.num_inputs(); }
  bool IsConstant(ir::Value root) const { return graph_.node(root.node).op == Ops().constant; }

  void FindLastUses() {
    for (int32_t step = 0; step < NumSteps(); ++step) {
      for (ir::Value operand : StepNode(step).operands) LastUse(Root(operand)) = step;
    }
    for (ir::Value output : graph_.outputs()) LastUse(Root(output)) = kForever;
  }

  // Each output gets the value it names as its own, if that has no owner yet.
  void AssignOutputs() {
    for (int32_t k = 0; k < static_cast<int32_t>(graph_.outputs().size()); ++k) {
      const ir::Value root = Root(graph_.outputs()[k]);
      if (IsInput(root) && !input_taken_[root.node]) {
        input_taken_[root.node] = true;
        storage_.passed_through.push_back({k, root.node});
      } else if (IsInput(root) || IsConstant(root) || OutputOf(root) >= 0) {
        storage_.copied_outputs.push_back(k);
      } else {
        OutputOf(root) = k;
      }
    }
  }

  // Whether `step` may write `result` over its operand `operand`, whose root dies there.
  bool MayTakeOver(int32_t step, int operand, int result) {
    const ir::Node& node = StepNode(step);
    const ir::Value root = Root(node.operands[operand]);
    if (LastUse(root) != step || IsConstant(root)) return false;
    if (graph_.type(root).byte_size() != node.results[result].byte_size()) return false;
    const auto readers = std::count_if(node.operands.begin(), node.operands.end(),
                                       [&](ir::Value other) { return Root(other) == root; });
    return readers == 1 && may_overwrite_(request_.steps[step], operand, result);
  }

  // Gives the memory of an output to the operand that it may overwrite, so that the whole chain of
  // values is made there; the chain may begin at a donated input.
  void ExtendOutputs(int32_t step) {
    const ir::Node& node = StepNode(step);
    for (int result = 0; result < static_cast<int>(node.results.size()); ++result) {
      const int32_t output = OutputOf({request_.steps[step], result});
      if (output < 0) continue;
      head_[output] = step;
      int best = -1;
      for (int i = 0; i < static_cast<int>(node.operands.size()); ++i) {
        const ir::Value root = Root(node.operands[i]);
        if (IsInput(root) ? !IsFreeDonation(root.node) : OutputOf(root) >= 0) continue;
        if (!MayTakeOver(step, i, result)) continue;
        if (best < 0 || IsInput(root)) best = i;
        if (IsInput(root)) break;
      }
      if (best < 0) continue;
      const ir::Value root = Root(node.operands[best]);
      if (IsInput(root)) {
        Donate(output, root.node);
      } else {
        OutputOf(root) = output;
      }
    }
  }

  bool IsFreeDonation(int32_t input) const {
    return request_.donated[input] && !input_taken_[input];
  }
  void Donate(int32_t output, int32_t input) {
    input_taken_[input] = true;
    storage_.donations.push_back({output, input});
    head_[output] = -1;  // has its memory
  }

  // A donated input that is dead before an output of its size is begun lends it its memory.
  void DonateTheDead() {
    for (int32_t output = 0; output < static_cast<int32_t>(head_.size()); ++output) {
      if (head_[output] < 0) continue;
      const int64_t bytes = graph_.type(graph_.outputs()[output]).byte_size();
      for (int32_t input = 0; input < graph_.num_inputs(); ++input) {
        if (IsFreeDonation(input) && last_use_[input][0] < head_[output] &&
            graph_.type(graph_.input(input)).byte_size() == bytes) {
          Donate(output, input);
          break;
        }
      }
    }
  }

  void PlaceInputsAndConstants() {
    for (int32_t id = 0; id < graph_.num_nodes(); ++id) {
      if (id < graph_.num_inputs()) storage_.places[id][0] = {PlaceKind::kInput, id};
      if (graph_.node(id).op == Ops().constant) {
        storage_.places[id][0] = {PlaceKind::kConstant, id};
      }
    }
  }

  void PlaceResults(int32_t step) {
    const int32_t id = request_.steps[step];
    const ir::Node& node = graph_.node(id);
    std::vector<bool> operand_taken(node.operands.size(), false);
    for (int result = 0; result < static_cast<int>(node.results.size()); ++result) {
      const ir::Value value{id, result};
      if (OutputOf(value) >= 0) {
        PlaceOf(value) = {PlaceKind::kOutput, OutputOf(value)};
        continue;
      }
      const int32_t last = std::max(step, LastUse(value));
      const int operand = request_.reuse ? OperandToOverwrite(step, result, operand_taken) : -1;
      if (operand >= 0) {
        operand_taken[operand] = true;
        PlaceOf(value) = PlaceOf(Root(node.operands[operand]));
        storage_.buffers[PlaceOf(value).index].last = last;
        continue;
      }
      PlaceOf(value) = {PlaceKind::kArena, static_cast<int32_t>(storage_.buffers.size())};
      storage_.buffers.push_back(
          {static_cast<uint64_t>(node.results[result].byte_size()), step, last});
      storage_.buffer_labels.push_back(node.label);
    }
  }

  int OperandToOverwrite(int32_t step, int result, const std::vector<bool>& operand_taken) {
    const ir::Node& node = StepNode(step);
    for (int i = 0; i < static_cast<int>(node.operands.size()); ++i) {
      const ir::Value root = Root(node.operands[i]);
      if (operand_taken[i] || IsInput(root) || PlaceOf(root).kind != PlaceKind::kArena) continue;
      if (MayTakeOver(step, i, result)) return i;
    }
    return -1;
  }

  const StorageRequest& request_;
  const ir::Graph& graph_;
  MayOverwrite may_overwrite_;
  Storage storage_;
  std::vector<std::vector<int32_t>> last_use_;   // of roots: the last step that reads them
  std::vector<std::vector<int32_t>> output_of_;  // of roots: the output whose memory they use
  std::vector<bool> input_taken_;                // lent to an output, or passed through
  std::vector<int32_t> head_;                    // by output: the first step that writes its memory
};

}  // namespace

ir::Value RootOf(const ir::Graph& graph, ir::Value value) {
  while (true) {
    const ir::Node& node = graph.node(value.node);
    if (node.op != Ops().reshape && ClassOf(node) != ir::OpClass::kBarrier) return value;
    value = node.operands[0];
  }
}

Storage AssignStorage(const StorageRequest& request, MayOverwrite may_overwrite) {
  return Assigner(request, may_overwrite).Run();
}

}  // namespace trencadis::compiler
