// The list of every op. Built once, never changes; thread-safe.
#ifndef TRENCADIS_RUNTIME_OPS_REGISTRY_H_
#define TRENCADIS_RUNTIME_OPS_REGISTRY_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/ir/op_def.h"

namespace trencadis::ops {

// The op called `name`, or null. An ir::OpLookup.
const ir::OpDef* FindOp(absl::string_view name);

// All ops, in the order of the list.
absl::Span<const ir::OpDef* const> AllOps();

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_REGISTRY_H_
