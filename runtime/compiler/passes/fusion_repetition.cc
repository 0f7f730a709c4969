// The part of FusionGroups that decides what a kernel computes again rather than reads.
#include <algorithm>

#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/passes/fusion_groups.h"

namespace trencadis::compiler {
namespace {

// Nodes that one kernel may repeat.
constexpr size_t kMaxRepeated = 16;
// A vector function costs no more than a write and a read of its result; what takes more operands
// than this (random numbers do) costs more.
constexpr size_t kMaxOperands = 3;

}  // namespace

// Whether column group `index` computes `node` itself, for each element it folds: `node` is read by
// nothing else, or is cheap and would be written to memory for this group alone.
bool FusionGroups::MayAbsorb(int32_t node, int32_t index) const {
  const FusionGroup& group = groups_[index];
  const ir::Node& n = analysis_.graph().node(node);
  const int32_t owner = group_of_[node];
  if (owner < 0 || owner == index || ClassOf(n) != ir::OpClass::kElementwise) return false;
  if (group.repeated.size() >= kMaxRepeated || analysis_.NeedsMemory({node, 0})) return false;
  bool shared = false;
  for (int32_t user : analysis_.Users(node)) {
    if (IsInside(group, user)) continue;
    if (group_of_[user] != owner) return false;  // it goes to memory anyway
    shared = true;
  }
  return !shared || n.op->traits.cheap_to_recompute;
}

void FusionGroups::AbsorbColumnProducers(int32_t index) {
  std::vector<int32_t> pending = groups_[index].members;
  while (!pending.empty()) {
    const int32_t node = pending.back();
    pending.pop_back();
    for (ir::Value leaf : analysis_.Dependencies(node)) {
      if (IsInside(groups_[index], leaf.node) || !MayAbsorb(leaf.node, index)) continue;
      groups_[index].repeated.push_back(leaf.node);
      pending.push_back(leaf.node);
    }
  }
  std::sort(groups_[index].repeated.begin(), groups_[index].repeated.end());
  for (int32_t node : groups_[index].repeated) {
    for (ir::Value leaf : analysis_.Dependencies(node)) {
      if (!IsInside(groups_[index], leaf.node)) read_by_repetition_.insert(leaf);
    }
  }
}

// A value that is computed from nothing but what the group reads anyway, or from something
// half its size, is computed again: that saves reading it, and often its ever being written.
void FusionGroups::RepeatWhatIsFree(int32_t index) {
  FusionGroup& group = groups_[index];
  std::vector<ir::Value> inputs = InputsOf(index, index);
  const auto is_at_hand = [&](ir::Value value) {
    return IsInside(group, value.node) ||
           std::find(inputs.begin(), inputs.end(), value) != inputs.end();
  };
  const auto is_free = [&](ir::Value value) {
    const ir::Node& node = analysis_.graph().node(value.node);
    const auto sources = analysis_.Dependencies(value.node);
    if (group_of_[value.node] < 0 || ClassOf(node) != ir::OpClass::kElementwise ||
        node.operands.size() > kMaxOperands ||
        (analysis_.NeedsMemory(value) && !node.op->traits.cheap_to_recompute) ||
        node.results[0].shape.num_elements() != group.shape.full_elements()) {
      return false;
    }
    const bool widens =
        sources.size() == 1 && node.operands.size() == 1 &&
        2 * analysis_.graph().type(sources[0]).byte_size() <= node.results[0].byte_size();
    return widens || std::all_of(sources.begin(), sources.end(), is_at_hand);
  };
  while (group.repeated.size() < kMaxRepeated) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), is_free);
    if (found == inputs.end()) break;
    const int32_t node = found->node;
    inputs.erase(found);
    group.repeated.push_back(node);
    for (ir::Value source : analysis_.Dependencies(node)) {
      if (is_at_hand(source)) continue;
      inputs.push_back(source);
      read_by_repetition_.insert(source);
    }
  }
  std::sort(group.repeated.begin(), group.repeated.end());
}

}  // namespace trencadis::compiler
