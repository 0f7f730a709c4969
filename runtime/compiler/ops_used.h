// The ops that passes look for and emit, found in the registry once.
//
// Passes classify by traits; they name an op only where a rule is about that very op.
#ifndef TRENCADIS_RUNTIME_COMPILER_OPS_USED_H_
#define TRENCADIS_RUNTIME_COMPILER_OPS_USED_H_

#include "runtime/ir/op_def.h"

namespace trencadis::compiler {

struct OpsUsed {
  const ir::OpDef *constant, *iota;
  const ir::OpDef *broadcast, *reshape, *transpose, *slice, *reverse;
  const ir::OpDef *neg, *abs, *logical_not, *convert, *relu;
  const ir::OpDef *add, *sub, *mul, *div, *max, *min, *logical_and, *logical_or, *select;
  const ir::OpDef *matmul, *concatenate, *pad, *barrier, *fusion;
};

const OpsUsed &Ops();

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_OPS_USED_H_
