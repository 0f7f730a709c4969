// VectorBuilder: ops' scalar forms as LLVM vector instructions, one element per lane.
//
// A lane's result depends on that lane's operands only, down to the last bit: elementary functions
// are libmvec's vector functions whatever the number of elements in use, and functions that libmvec
// lacks are called lane by lane. No instruction carries fast-math flags. Used by one thread.
#ifndef TRENCADIS_RUNTIME_CODEGEN_VECTOR_BUILDER_H_
#define TRENCADIS_RUNTIME_CODEGEN_VECTOR_BUILDER_H_

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "runtime/ir/scalar_builder.h"

namespace trencadis::codegen {

class VectorBuilder : public ir::ScalarBuilder {
 public:
  // Emits through `ir`, at its insertion point; vectors have `lanes` lanes (4, 8 or 16).
  VectorBuilder(llvm::IRBuilder<>& ir, int lanes) : ir_(ir), lanes_(lanes) {}

  int lanes() const { return lanes_; }
  // How a lane of `dtype` is computed: f32 for f32 and bf16, i1 for bool, else its own width.
  llvm::Type* LaneType(DType dtype) const;
  // How an element of `dtype` is stored.
  llvm::Type* StorageType(DType dtype) const;
  llvm::VectorType* VectorOf(llvm::Type* lane) const;

  // `dtype` is the type computed with (never kBF16).
  ir::Scalar Wrap(llvm::Value* vector, DType dtype);
  llvm::Value* ValueOf(ir::Scalar scalar) const { return values_[scalar.id].vector; }
  // Forgets all scalars.
  void Clear() { values_.clear(); }

  // Between storage and lanes. Storing a bf16 expects a value that RoundToBF16 made.
  llvm::Value* FromStorage(llvm::Value* stored, DType dtype);
  llvm::Value* ToStorage(llvm::Value* vector, DType dtype);
  // Nearest bf16 value of each f32 lane, ties to even; exactly ToF32(ToBF16(x)), denormals and NaN
  // included (AVX-512's own conversion flushes denormals).
  llvm::Value* RoundToBF16(llvm::Value* vector);
  // A vector of one constant; for bf16, the f32 constant rounded.
  llvm::Constant* ConstantVector(DType dtype, double value) const;

  DType TypeOf(ir::Scalar value) const override { return values_[value.id].dtype; }
  ir::Scalar Constant(DType dtype, double value) override;
  ir::Scalar Unary(ir::UnaryFn fn, ir::Scalar x) override;
  ir::Scalar Binary(ir::BinaryFn fn, ir::Scalar x, ir::Scalar y) override;
  ir::Scalar Compare(ir::CompareFn fn, ir::Scalar x, ir::Scalar y) override;
  ir::Scalar Select(ir::Scalar condition, ir::Scalar if_true, ir::Scalar if_false) override;
  ir::Scalar Convert(ir::Scalar x, DType dtype) override;
  ir::Scalar Fma(ir::Scalar x, ir::Scalar y, ir::Scalar z) override;

  // The same, on vectors of the type that `dtype` computes with.
  llvm::Value* EmitBinary(ir::BinaryFn fn, DType dtype, llvm::Value* x, llvm::Value* y);
  // The value that leaves any other unchanged under a reduction's `fn` (add, max or min).
  llvm::Constant* ReductionIdentity(ir::BinaryFn fn, DType dtype) const;

 private:
  struct Entry {
    llvm::Value* vector;
    DType dtype;
  };

  llvm::Value* EmitFloatBinary(ir::BinaryFn fn, llvm::Value* x, llvm::Value* y);
  llvm::Value* EmitIntegerBinary(ir::BinaryFn fn, bool is_signed, llvm::Value* x, llvm::Value* y);
  llvm::Value* EmitExtremum(bool is_max, llvm::Value* x, llvm::Value* y);
  // libmvec's `name` (as in "expf") over all lanes.
  llvm::Value* CallVectorMath(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> operands);
  // libm's `name`, lane by lane.
  llvm::Value* CallPerLane(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> operands);
  llvm::FunctionCallee PureFunction(llvm::StringRef name, llvm::Type* type, size_t arity);

  llvm::IRBuilder<>& ir_;
  const int lanes_;
  std::vector<Entry> values_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_VECTOR_BUILDER_H_
