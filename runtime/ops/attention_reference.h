// Reference implementations of attention and its gradient. The rules: attention.cc.
#ifndef TRENCADIS_RUNTIME_OPS_ATTENTION_REFERENCE_H_
#define TRENCADIS_RUNTIME_OPS_ATTENTION_REFERENCE_H_

#include "runtime/ops/reference.h"

namespace trencadis::ops {

absl::StatusOr<Literals> AttentionReference(LiteralSpan operands, const ir::Attributes& attributes,
                                            const ir::TypeList& results);
absl::StatusOr<Literals> AttentionGradReference(LiteralSpan operands,
                                                const ir::Attributes& attributes,
                                                const ir::TypeList& results);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_ATTENTION_REFERENCE_H_
