// The structural fingerprint of a graph: what a recipe's key is made of. Thread-safe.
#ifndef TRENCADIS_RUNTIME_IR_FINGERPRINT_H_
#define TRENCADIS_RUNTIME_IR_FINGERPRINT_H_

#include "runtime/base/fingerprint.h"
#include "runtime/ir/graph.h"

namespace trencadis::ir {

// Equal for graphs that compare equal, in every process: ops by name, operands, attributes
// (literals and doubles by their bits), result types, outputs. Labels do not count.
Fingerprint128 FingerprintGraph(const Graph& graph);

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_FINGERPRINT_H_
