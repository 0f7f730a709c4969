// The three forms of fused loops, each written into an LLVM module as one or two stage functions.
//
// The returned KernelCode lacks only its object bytes.
#ifndef TRENCADIS_RUNTIME_CODEGEN_LOOP_KERNELS_H_
#define TRENCADIS_RUNTIME_CODEGEN_LOOP_KERNELS_H_

#include <string>

#include "llvm/IR/Module.h"
#include "runtime/codegen/kernel.h"
#include "runtime/codegen/loop_body.h"

namespace trencadis::codegen {

// One stage; a unit is up to kChunk elements along the innermost variable.
KernelCode EmitElementwiseKernel(const LoopBody& body, int lanes, llvm::Module& module,
                                 const std::string& symbol);

// A unit is one row. Few rows, long, and reduced in one pass: two stages, a unit of the first being
// one chunk of a row.
KernelCode EmitRowKernel(const LoopBody& body, int lanes, llvm::Module& module,
                         const std::string& symbol);

// A unit of the first stage is a tile of columns times a chunk of what is folded; with more than
// one chunk a second stage adds up the chunks, its unit being a tile.
KernelCode EmitColumnKernel(const LoopBody& body, int lanes, llvm::Module& module,
                            const std::string& symbol);

// Operations and bytes of one run. A buffer that is read counts once.
KernelCost CostOf(const LoopBody& body);
// Units that make about ten microseconds of work, given the kernel's cost and its units.
int64_t GrainFor(const KernelCost& cost, int64_t units, int lanes);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LOOP_KERNELS_H_
