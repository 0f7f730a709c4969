#include "runtime/compiler/passes/fusion_groups.h"

#include <algorithm>

#include "runtime/compiler/graph_util.h"

namespace trencadis::compiler {
namespace {

// A value with more readers than this is common property, no reason to merge them.
constexpr size_t kMaxSiblings = 8;
// Values smaller than this cost nothing to read twice.
constexpr int64_t kMinSharedElements = 256;

}  // namespace

FusionGroups::FusionGroups(const FusionAnalysis& analysis, const FusionLimits& limits)
    : analysis_(analysis), limits_(limits), group_of_(analysis.graph().num_nodes(), -1) {
  const ir::Graph& graph = analysis.graph();
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    if (analysis.role(id) != FusionRole::kCompute) continue;
    group_of_[id] = static_cast<int32_t>(groups_.size());
    groups_.push_back({analysis.shape(id), id, {id}, {}});
    JoinProducers(id);
  }
  // Again, now that groups have all their members: what could not wait for one may wait for all.
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    if (group_of_[id] >= 0) JoinProducers(id);
  }
  for (int32_t id = 0; id < graph.num_nodes(); ++id) {
    if (analysis.role(id) == FusionRole::kInline) continue;
    for (size_t i = 0; i < graph.node(id).results.size(); ++i) {
      JoinSiblings({id, static_cast<int32_t>(i)});
    }
  }
  for (int32_t i = 0; i < static_cast<int32_t>(groups_.size()); ++i) {
    if (groups_[i].members.empty()) continue;
    groups_[i].shape.form == LoopForm::kColumn ? AbsorbColumnProducers(i) : RepeatWhatIsFree(i);
  }
}

const FusionGroup* FusionGroups::GroupOf(int32_t node) const {
  return group_of_[node] < 0 ? nullptr : &groups_[group_of_[node]];
}

std::vector<const FusionGroup*> FusionGroups::Groups() const {
  std::vector<const FusionGroup*> result;
  for (const FusionGroup& group : groups_) {
    if (!group.members.empty()) result.push_back(&group);
  }
  std::sort(result.begin(), result.end(),
            [](const FusionGroup* a, const FusionGroup* b) { return a->position < b->position; });
  return result;
}

bool FusionGroups::IsInside(const FusionGroup& group, int32_t node) const {
  return GroupOf(node) == &group ||
         std::find(group.repeated.begin(), group.repeated.end(), node) != group.repeated.end();
}

bool FusionGroups::IsReadOutside(const FusionGroup& group, ir::Value value) const {
  if (analysis_.NeedsMemory(value) || read_by_repetition_.contains(value)) return true;
  for (int32_t user : analysis_.Users(value.node)) {
    if (IsInside(group, user)) continue;
    const auto leaves = analysis_.Dependencies(user);
    if (std::find(leaves.begin(), leaves.end(), value) == leaves.end()) continue;
    const FusionGroup* reader = GroupOf(user);
    const bool computes_it_itself = reader != nullptr && IsInside(*reader, value.node);
    if (!computes_it_itself) return true;
  }
  return false;
}

int32_t FusionGroups::PositionOf(int32_t node) const {
  return group_of_[node] < 0 ? node : groups_[group_of_[node]].position;
}

bool FusionGroups::MergeWithProducers(int32_t node) {
  bool all = true;
  for (ir::Value leaf : analysis_.Dependencies(node)) {
    if (group_of_[leaf.node] < 0 || group_of_[leaf.node] == group_of_[node]) continue;
    all &= TryMerge(group_of_[leaf.node], group_of_[node]);
  }
  return all;
}

// A node that cannot join one producer because another comes too late may join both as one.
void FusionGroups::JoinProducers(int32_t node) {
  if (MergeWithProducers(node)) return;
  bool merged = false;
  const auto leaves = analysis_.Dependencies(node);
  for (size_t i = 0; i < leaves.size(); ++i) {
    for (size_t j = i + 1; j < leaves.size(); ++j) {
      const int32_t a = group_of_[leaves[i].node];
      const int32_t b = group_of_[leaves[j].node];
      if (a >= 0 && b >= 0 && a != b) merged |= TryMerge(a, b);
    }
  }
  if (merged) MergeWithProducers(node);
}

// Kernels that read the same large value read it once if they are one.
void FusionGroups::JoinSiblings(ir::Value value) {
  const int64_t elements = analysis_.graph().type(value).shape.num_elements();
  if (elements < kMinSharedElements) return;
  std::vector<int32_t> readers;
  for (int32_t user : analysis_.Users(value.node)) {
    const int32_t group = group_of_[user];
    if (group < 0 || std::find(readers.begin(), readers.end(), group) != readers.end()) continue;
    const auto leaves = analysis_.Dependencies(user);
    if (std::find(leaves.begin(), leaves.end(), value) == leaves.end()) continue;
    const LoopShape& shape = groups_[group].shape;
    const bool reads_all = shape.form == LoopForm::kColumn || shape.full_elements() == elements;
    if (reads_all) readers.push_back(group);
  }
  if (readers.size() > kMaxSiblings) return;
  for (size_t i = 0; i < readers.size(); ++i) {
    for (size_t j = i + 1; j < readers.size(); ++j) {
      const bool merged_already =
          groups_[readers[i]].members.empty() || groups_[readers[j]].members.empty();
      if (!merged_already) TryMerge(readers[i], readers[j]);
    }
  }
}

bool FusionGroups::ShapesMerge(const FusionGroup& a, const FusionGroup& b,
                               LoopShape& merged) const {
  const LoopShape* x = &a.shape;
  const LoopShape* y = &b.shape;
  if (x->form == LoopForm::kElementwise && y->form != LoopForm::kElementwise) std::swap(x, y);
  merged = *x;
  // Nothing to win in loops over nothing.
  if (x->full_elements() == 0 || y->full_elements() == 0) return false;
  switch (x->form) {
    case LoopForm::kElementwise:
      return x->elements == y->elements;
    case LoopForm::kRow: {
      if (y->form == LoopForm::kColumn) return false;
      if (y->form == LoopForm::kRow) return x->rows == y->rows && x->columns == y->columns;
      if (y->elements == x->rows) return true;
      if (y->elements != x->rows * x->columns) return false;
      const bool serial = x->rows < limits_.few_rows && x->columns > limits_.long_row;
      // What is reduced may be computed on the way; nothing long is written by one thread.
      return !serial || (&a.shape == y && !IsReadBeyond(a, b));
    }
    case LoopForm::kColumn:
      return y->form == LoopForm::kColumn
                 ? *x == *y
                 // Only what follows the reduction: its producers are repeated, not members.
                 : y->elements == x->elements && &a.shape == x;
  }
  return false;
}

// Whether anything but `a` and `b` reads what `a` computes.
bool FusionGroups::IsReadBeyond(const FusionGroup& a, const FusionGroup& b) const {
  return std::any_of(a.members.begin(), a.members.end(), [&](int32_t member) {
    const auto users = analysis_.Users(member);
    return analysis_.NeedsMemory({member, 0}) ||
           std::any_of(users.begin(), users.end(),
                       [&](int32_t user) { return GroupOf(user) != &a && GroupOf(user) != &b; });
  });
}

bool FusionGroups::IsNear(int32_t a, int32_t b) const {
  if (groups_[a].position > groups_[b].position) std::swap(a, b);
  const FusionGroup& earlier = groups_[a];
  const int32_t distance =
      analysis_.HeaviesBefore(groups_[b].position) - analysis_.HeaviesBefore(earlier.position);
  if (distance <= limits_.distance) return true;
  // It may wait if that keeps no more alive than its results would be: arguments always are.
  if (IsReadBeyond(earlier, groups_[b])) return false;
  int64_t kept_bytes = 0;
  for (ir::Value leaf : InputsOf(a, a)) {
    const bool is_argument = leaf.node < analysis_.graph().num_inputs();
    if (!is_argument) kept_bytes += analysis_.graph().type(leaf).byte_size();
  }
  int64_t result_bytes = 0;
  for (int32_t member : earlier.members) {
    const auto users = analysis_.Users(member);
    const bool is_result =
        std::any_of(users.begin(), users.end(), [&](int32_t user) { return group_of_[user] == b; });
    if (is_result) result_bytes += analysis_.graph().type({member, 0}).byte_size();
  }
  return kept_bytes <= result_bytes;
}

std::vector<ir::Value> FusionGroups::InputsOf(int32_t a, int32_t b) const {
  std::vector<ir::Value> inputs;
  for (int32_t index : {a, b}) {
    for (int32_t member : groups_[index].members) {
      for (ir::Value leaf : analysis_.Dependencies(member)) {
        const int32_t group = group_of_[leaf.node];
        if (group == a || group == b) continue;
        if (std::find(inputs.begin(), inputs.end(), leaf) == inputs.end()) inputs.push_back(leaf);
      }
    }
  }
  return inputs;
}

bool FusionGroups::WithinLimits(int32_t a, int32_t b) const {
  const size_t nodes = groups_[a].members.size() + groups_[b].members.size();
  if (nodes > static_cast<size_t>(limits_.nodes)) return false;
  return InputsOf(a, b).size() <= static_cast<size_t>(limits_.inputs);
}

// Whether all that reads group `index`, group `other` aside, comes after `position`.
bool FusionGroups::AllUsersAfter(int32_t index, int32_t other, int32_t position) const {
  for (int32_t member : groups_[index].members) {
    for (int32_t user : analysis_.Users(member)) {
      if (group_of_[user] == index || group_of_[user] == other) continue;
      if (PositionOf(user) < position) return false;
    }
  }
  return true;
}

// Whether all that group `index` reads, group `other` aside, comes before `position`.
bool FusionGroups::AllSourcesBefore(int32_t index, int32_t other, int32_t position) const {
  for (int32_t member : groups_[index].members) {
    for (ir::Value leaf : analysis_.Dependencies(member)) {
      if (group_of_[leaf.node] == index || group_of_[leaf.node] == other) continue;
      if (PositionOf(leaf.node) > position) return false;
    }
  }
  return true;
}

bool FusionGroups::FindPosition(int32_t a, int32_t b, int32_t& position) const {
  if (groups_[a].position > groups_[b].position) std::swap(a, b);
  if (AllSourcesBefore(b, a, groups_[a].position)) {
    position = groups_[a].position;
    return true;
  }
  if (AllUsersAfter(a, b, groups_[b].position)) {
    position = groups_[b].position;
    return true;
  }
  return false;
}

// Merges group `b` into `a`.
bool FusionGroups::TryMerge(int32_t a, int32_t b) {
  LoopShape shape;
  int32_t position = -1;
  if (!ShapesMerge(groups_[a], groups_[b], shape) || !IsNear(a, b) || !WithinLimits(a, b) ||
      !FindPosition(a, b, position)) {
    return false;
  }
  FusionGroup& into = groups_[a];
  FusionGroup& from = groups_[b];
  into.shape = shape;
  into.position = position;
  for (int32_t member : from.members) group_of_[member] = a;
  const auto middle =
      into.members.insert(into.members.end(), from.members.begin(), from.members.end());
  std::inplace_merge(into.members.begin(), middle, into.members.end());
  from.members.clear();
  return true;
}

}  // namespace trencadis::compiler
