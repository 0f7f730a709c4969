// What the three kernel forms share: loops over lanes, and reductions in a fixed order.
//
// The order of a reduction over N elements with L lanes: chunks of kChunk elements; in a chunk,
// four vector accumulators taking vectors in turn, what is left going to the first; then
// (0+1)+(2+3), then halves of the vector onto each other. Sums of chunks are added up in f64, in
// order.
#ifndef TRENCADIS_RUNTIME_CODEGEN_LANE_LOOPS_H_
#define TRENCADIS_RUNTIME_CODEGEN_LANE_LOOPS_H_

#include "absl/functional/function_ref.h"
#include "runtime/codegen/expr_emitter.h"

namespace trencadis::codegen {

// Elements of a row that one accumulation takes in; a multiple of every vector length times 4.
inline constexpr int64_t kChunk = 4096;
inline constexpr int kAccumulators = 4;

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Runs `body` for the vectors of [begin, end) of `variable`: `unroll` replicas at a time, replica r
// on the r-th vector, then what is left one (masked) vector at a time as replica 0. `extent` is the
// variable's whole extent, which bounds the range; when the range is not all of it, it begins and
// ends at multiples of kChunk or at the extent. `carried` is what the loop carries, updated in
// place.
Values ForLanes(ExprEmitter& emitter, int variable, llvm::Value* begin, llvm::Value* end,
                int64_t extent, int unroll, const Values& initial,
                absl::FunctionRef<void(int replica, Values& carried)> body);

// Combines vectors under the reduction's function; lanes outside the emitter's mask keep
// `accumulator`.
llvm::Value* Accumulate(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* accumulator,
                        llvm::Value* value);
llvm::Value* Combine(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* x,
                     llvm::Value* y);
llvm::Constant* Identity(ExprEmitter& emitter, const Reduction& reduction);
// A vector's lanes as one scalar.
llvm::Value* FoldLanes(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* vector);

// Totals over chunks, scalars or vectors alike: f64 for sums of floats, else the lane's own type.
llvm::Value* InitialTotal(ExprEmitter& emitter, const Reduction& reduction, bool is_vector);
llvm::Value* AddToTotal(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* total,
                        llvm::Value* part);
// A total as the type it was reduced in.
llvm::Value* FromTotal(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* total);
// The vector that stands for the reduction's result: `value` (a scalar or a vector) rounded to its
// type.
llvm::Value* ResultVector(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* value);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_LANE_LOOPS_H_
