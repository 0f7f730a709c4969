// Pass: one rewriting of a graph. A pass keeps every output's value bit for bit.
//
// A pass object is used by one thread at a time and may be run again.
#ifndef TRENCADIS_RUNTIME_COMPILER_PASS_H_
#define TRENCADIS_RUNTIME_COMPILER_PASS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

class Pass {
 public:
  virtual ~Pass() = default;
  // In lower case with underscores; what HPU_DISABLE_PASSES names.
  virtual absl::string_view name() const = 0;
  // True iff it changed `graph`. Inputs and outputs keep their order and types. After an error the
  // graph is as before.
  virtual absl::StatusOr<bool> Run(ir::Graph& graph) = 0;
};

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_PASS_H_
