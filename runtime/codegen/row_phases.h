// RowPhases: the order in which a row kernel walks a row.
//
// A phase is one pass over the row. Reductions that need each other's results go to successive
// phases, independent ones share a pass. A value that two passes need is computed again when that
// is cheap and otherwise kept in scratch by the first. A row of several loops (an affine view cut
// it) is first laid out flat in scratch, because the order of a reduction may depend only on the
// row's length. Pure function of the body.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ROW_PHASES_H_
#define TRENCADIS_RUNTIME_CODEGEN_ROW_PHASES_H_

#include <cstdint>
#include <vector>

#include "runtime/codegen/loop_body.h"

namespace trencadis::codegen {

struct ScratchCopy {
  int expr = -1;
  int64_t offset_bytes = 0;
};

struct RowPhase {
  int group = 1;
  bool reads_flat = false;          // everything it needs of the row lies in scratch copies
  std::vector<int> reductions;      // finished by this phase
  std::vector<int> stores;          // made by this phase
  std::vector<ScratchCopy> writes;  // readable from the next phase of this group on
};

struct RowPhases {
  std::vector<RowPhase> phases;
  std::vector<int> row_stores;  // one element per row, after all phases
  int64_t scratch_bytes = 0;
};

RowPhases PlanRowPhases(const LoopBody& body);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ROW_PHASES_H_
