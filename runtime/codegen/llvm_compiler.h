// An LLVM module optimised for a Target and turned into object bytes.
#ifndef TRENCADIS_RUNTIME_CODEGEN_LLVM_COMPILER_H_
#define TRENCADIS_RUNTIME_CODEGEN_LLVM_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "runtime/codegen/target.h"

namespace trencadis::codegen {

// Verifies, optimises and compiles `module`, changing it. The object is position-independent code
// that refers only to functions of libm and libmvec. Threads may call it at the same time, each
// with a module of its own context. Internal when LLVM refuses the module.
absl::StatusOr<std::string> CompileToObject(llvm::Module& module, const Target& target);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LLVM_COMPILER_H_
