#include "runtime/codegen/lane_loops.h"

#include <numeric>

namespace trencadis::codegen {
namespace {

bool SumsFloats(const Reduction& reduction) {
  return reduction.fn == ir::BinaryFn::kAdd && IsFloat(reduction.dtype);
}

llvm::Value* LanesBefore(ExprEmitter& emitter, llvm::Value* count) {
  llvm::IRBuilder<>& ir = emitter.ir();
  std::vector<uint64_t> numbers(emitter.lanes());
  std::iota(numbers.begin(), numbers.end(), 0);
  llvm::Value* lane_numbers = llvm::ConstantDataVector::get(ir.getContext(), numbers);
  return ir.CreateICmpULT(lane_numbers, ir.CreateVectorSplat(emitter.lanes(), count));
}

}  // namespace

Values ForLanes(ExprEmitter& emitter, int variable, llvm::Value* begin, llvm::Value* end,
                int64_t extent, int unroll, const Values& initial,
                absl::FunctionRef<void(int, Values&)> body) {
  llvm::IRBuilder<>& ir = emitter.ir();
  const int64_t lanes = emitter.lanes();
  const int64_t step = lanes * unroll;
  Values carried = initial;
  llvm::Value* position = begin;
  if (extent >= step) {
    // The last start from which a whole step fits, plus one.
    llvm::Value* main_end = ir.CreateSub(end, emitter.Int(step - 1));
    carried = emitter.For(begin, main_end, step, carried, [&](llvm::Value* index, Values inside) {
      for (int replica = 0; replica < unroll; ++replica) {
        emitter.SelectReplica(emitter.level(), replica);
        emitter.SetLaneVariable(variable);
        emitter.SetVariable(variable, ir.CreateAdd(index, emitter.Int(replica * lanes)));
        body(replica, inside);
      }
      return inside;
    });
    llvm::Value* length = ir.CreateSub(end, begin);
    position = ir.CreateSub(end, ir.CreateURem(length, emitter.Int(step)));
  }
  if (extent % step != 0) {
    carried = emitter.For(position, end, lanes, carried, [&](llvm::Value* index, Values inside) {
      emitter.SetLaneVariable(variable);
      emitter.SetVariable(variable, index);
      emitter.SetMask(LanesBefore(emitter, ir.CreateSub(end, index)));
      body(0, inside);
      emitter.SetMask(nullptr);
      return inside;
    });
  }
  emitter.SetLaneVariable(-1);
  return carried;
}

llvm::Value* Combine(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* x,
                     llvm::Value* y) {
  return emitter.vectors().EmitBinary(reduction.fn, reduction.dtype, x, y);
}

llvm::Value* Accumulate(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* accumulator,
                        llvm::Value* value) {
  llvm::Value* combined = Combine(emitter, reduction, accumulator, value);
  if (emitter.mask() == nullptr) return combined;
  return emitter.ir().CreateSelect(emitter.mask(), combined, accumulator);
}

llvm::Constant* Identity(ExprEmitter& emitter, const Reduction& reduction) {
  return emitter.vectors().ReductionIdentity(reduction.fn, reduction.dtype);
}

llvm::Value* FoldLanes(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* vector) {
  llvm::IRBuilder<>& ir = emitter.ir();
  for (int half = emitter.lanes() / 2; half > 0; half /= 2) {
    std::vector<int> upper(half), lower(half);
    std::iota(upper.begin(), upper.end(), half);
    std::iota(lower.begin(), lower.end(), 0);
    vector = Combine(emitter, reduction, ir.CreateShuffleVector(vector, lower),
                     ir.CreateShuffleVector(vector, upper));
  }
  return ir.CreateExtractElement(vector, uint64_t{0});
}

llvm::Value* InitialTotal(ExprEmitter& emitter, const Reduction& reduction, bool is_vector) {
  llvm::Constant* identity = Identity(emitter, reduction);
  if (SumsFloats(reduction)) {
    identity = llvm::Constant::getNullValue(emitter.vectors().VectorOf(emitter.ir().getDoubleTy()));
  }
  return is_vector ? identity : identity->getAggregateElement(0u);
}

llvm::Value* AddToTotal(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* total,
                        llvm::Value* part) {
  llvm::IRBuilder<>& ir = emitter.ir();
  if (!SumsFloats(reduction)) return Combine(emitter, reduction, total, part);
  return ir.CreateFAdd(total, ir.CreateFPExt(part, total->getType()));
}

llvm::Value* FromTotal(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* total) {
  if (!SumsFloats(reduction)) return total;
  llvm::IRBuilder<>& ir = emitter.ir();
  llvm::Type* type = total->getType()->isVectorTy()
                         ? static_cast<llvm::Type*>(emitter.vectors().VectorOf(ir.getFloatTy()))
                         : ir.getFloatTy();
  return ir.CreateFPTrunc(total, type);
}

llvm::Value* ResultVector(ExprEmitter& emitter, const Reduction& reduction, llvm::Value* value) {
  if (!value->getType()->isVectorTy()) {
    value = emitter.ir().CreateVectorSplat(emitter.lanes(), value);
  }
  return reduction.dtype == DType::kBF16 ? emitter.vectors().RoundToBF16(value) : value;
}

}  // namespace trencadis::codegen
