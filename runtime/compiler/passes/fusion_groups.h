// FusionGroups: which compute nodes run in one kernel.
//
// Each group has a *position*, the id of one of its nodes, such that every group and opaque node
// comes after all it depends on: merging two groups keeps one of their positions and is refused
// when neither keeps that order. So groups never form a cycle, and nothing is moved past a product
// that it does not depend on unless it lies near.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_GROUPS_H_
#define TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "runtime/compiler/passes/fusion_analysis.h"

namespace trencadis::compiler {

struct FusionLimits {
  int32_t nodes = 48;
  int32_t inputs = 24;
  // Products and composites that a kernel may move past to join another.
  int32_t distance = 4;
  // With fewer rows than this, longer than `long_row`, a row kernel has too little to share out
  // among threads, so only its reduction joins what comes before.
  int64_t few_rows = 16;
  int64_t long_row = 8192;
};

struct FusionGroup {
  LoopShape shape;
  int32_t position = -1;
  std::vector<int32_t> members;  // compute nodes, ascending
  // Nodes of other groups that this one computes again rather than reads.
  std::vector<int32_t> repeated;
};

class FusionGroups {
 public:
  // `analysis` outlives this object.
  FusionGroups(const FusionAnalysis& analysis, const FusionLimits& limits);

  // The group that computes `node`, or null for nodes that are not compute nodes.
  const FusionGroup* GroupOf(int32_t node) const;
  // All groups, by position.
  std::vector<const FusionGroup*> Groups() const;
  // Whether a node outside `group`'s kernel reads `value`, which a member of it computes.
  bool IsReadOutside(const FusionGroup& group, ir::Value value) const;

 private:
  bool MergeWithProducers(int32_t node);
  void JoinProducers(int32_t node);
  void JoinSiblings(ir::Value value);
  void AbsorbColumnProducers(int32_t index);
  void RepeatWhatIsFree(int32_t index);
  bool MayAbsorb(int32_t node, int32_t index) const;

  bool TryMerge(int32_t a, int32_t b);
  bool ShapesMerge(const FusionGroup& a, const FusionGroup& b, LoopShape& merged) const;
  bool IsReadBeyond(const FusionGroup& a, const FusionGroup& b) const;
  bool FindPosition(int32_t a, int32_t b, int32_t& position) const;
  bool AllUsersAfter(int32_t index, int32_t other, int32_t position) const;
  bool AllSourcesBefore(int32_t index, int32_t other, int32_t position) const;
  bool WithinLimits(int32_t a, int32_t b) const;
  bool IsNear(int32_t a, int32_t b) const;
  int32_t PositionOf(int32_t node) const;
  std::vector<ir::Value> InputsOf(int32_t a, int32_t b) const;
  bool IsInside(const FusionGroup& group, int32_t node) const;

  const FusionAnalysis& analysis_;
  const FusionLimits limits_;
  std::vector<FusionGroup> groups_;  // merged ones are left empty
  std::vector<int32_t> group_of_;    // by node; -1: none
  // What repeated nodes read from other groups.
  absl::flat_hash_set<ir::Value> read_by_repetition_;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASSES_FUSION_GROUPS_H_
