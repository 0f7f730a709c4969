// The two attention kernels as LLVM IR. See attention.h for what they compute.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ATTENTION_KERNELS_H_
#define TRENCADIS_RUNTIME_CODEGEN_ATTENTION_KERNELS_H_

#include <string>

#include "llvm/IR/Module.h"
#include "runtime/codegen/attention.h"
#include "runtime/codegen/kernel.h"
#include "runtime/codegen/target.h"

namespace trencadis::codegen {

// Write the kernel of a valid `spec` into `module`; of the result only the object and the cost are
// still to be filled in.
KernelCode EmitAttentionForward(const AttentionSpec& spec, const Target& target,
                                llvm::Module& module, const std::string& symbol);
// The forward kernel for specs that HasFewRows.
KernelCode EmitAttentionFewRows(const AttentionSpec& spec, const Target& target,
                                llvm::Module& module, const std::string& symbol);
bool HasFewRows(const AttentionSpec& spec, const Target& target);
KernelCode EmitAttentionBackward(const AttentionSpec& spec, const Target& target,
                                 llvm::Module& module, const std::string& symbol);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ATTENTION_KERNELS_H_
