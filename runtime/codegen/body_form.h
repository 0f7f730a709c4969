// Which form of fused loop a graph takes, told from the axes of its reductions.
//
// Axes of size one never count. Pure functions.
#ifndef TRENCADIS_RUNTIME_CODEGEN_BODY_FORM_H_
#define TRENCADIS_RUNTIME_CODEGEN_BODY_FORM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ir/graph.h"

namespace trencadis::codegen {

enum class BodyForm { kElementwise, kRow, kColumn };

// The axes of a reduction's operand.
struct ReductionAxes {
  std::vector<int64_t> kept, folded;            // sizes
  std::vector<int64_t> kept_axes, folded_axes;  // numbers
  int64_t kept_count = 1, folded_count = 1;
  bool folds_last = true;  // the last axis is folded, or none is
};

ReductionAxes AxesOf(const ir::Graph& graph, const ir::Node& reduction);

// The form of a graph and the extents that its loop variables start with.
struct LoopForm {
  BodyForm form = BodyForm::kElementwise;
  // Of what the reductions keep (without reductions: of the first output), then of each number of
  // elements that some reduction folds.
  std::vector<std::vector<int64_t>> group_extents;
};

// Unimplemented when its reductions run over different loops.
absl::StatusOr<LoopForm> FormOf(const ir::Graph& graph);

// Unimplemented: "cannot fuse node 3 (matmul): `why`".
absl::Status CannotFuse(const ir::Graph& graph, int32_t node, absl::string_view why);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_BODY_FORM_H_
