// LoopBody: a fusible graph rewritten as loops over variables. The half of code generation that
// knows no LLVM.
//
// Views are gone: what remains are loads at affine offsets, scalar operations and reductions. The
// loop variables fall into groups. Group 0, the *outer* variables, enumerates what the reductions
// keep (or, without reductions, the outputs' elements); every further group enumerates what one
// size of reduction folds. Variables of a group are consecutive, outermost first, and adjacent ones
// that every access walks as one have been merged. Immutable; const access is thread-safe.
#ifndef TRENCADIS_RUNTIME_CODEGEN_LOOP_BODY_H_
#define TRENCADIS_RUNTIME_CODEGEN_LOOP_BODY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/codegen/affine.h"
#include "runtime/codegen/body_form.h"
#include "runtime/ir/graph.h"

namespace trencadis::codegen {

struct Expr {
  enum class Kind {
    kLoad,       // element `index` of input `source`
    kTable,      // element `index` of the constant `node`
    kSplat,      // the one value of the constant `node`
    kIota,       // `index` itself
    kOp,         // the scalar form of `node` on `operands`
    kReduction,  // result of reduction `source`, of the current outer variables
  };
  Kind kind = Kind::kSplat;
  DType dtype = DType::kF32;
  const ir::Node* node = nullptr;
  std::vector<int> operands;  // earlier expressions
  int source = -1;
  Affine index;
  // Bit v: the value changes with variable v. Bits of all outer variables for a reduction.
  uint64_t variables = 0;
  // Needs the result of some reduction.
  bool after_reduction = false;
};

struct Reduction {
  const ir::Node* node = nullptr;
  ir::BinaryFn fn = ir::BinaryFn::kAdd;
  DType dtype = DType::kF32;
  int operand = -1;  // expression
  int group = 1;     // that it folds
};

struct Store {
  int output = -1;
  int expr = -1;
  Affine index;   // in elements
  int group = 0;  // 0: one element per assignment of the outer variables; else one per variable of
                  // that group too
};

struct LoopBody {
  BodyForm form = BodyForm::kElementwise;
  const ir::Graph* graph = nullptr;
  std::vector<int64_t> extents;          // of each variable
  std::vector<std::vector<int>> groups;  // variables of each group
  std::vector<Expr> exprs;               // operands before users
  std::vector<Reduction> reductions;     // one before those that need its result
  std::vector<Store> stores;

  int64_t GroupCount(int group) const;  // product of its variables' extents
  uint64_t GroupMask(int group) const;
  // Row-major position within the group, as an affine form of its variables.
  Affine GroupLinear(int group) const;

  // Unimplemented, naming the node in the way, when `graph` has no such form. `graph` must outlive
  // the result.
  static absl::StatusOr<LoopBody> Build(const ir::Graph& graph);
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LOOP_BODY_H_
