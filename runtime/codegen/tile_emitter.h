// TileEmitter: a kernel of tile products, being written in LLVM IR.
//
// Loops, branches, rows of tensors as vectors, transposition of a square of vectors, and the
// register-blocked product that the attention kernels are made of. Used by one thread.
#ifndef TRENCADIS_RUNTIME_CODEGEN_TILE_EMITTER_H_
#define TRENCADIS_RUNTIME_CODEGEN_TILE_EMITTER_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "runtime/codegen/target.h"
#include "runtime/codegen/vector_builder.h"

namespace trencadis::codegen {

// How products multiply.
enum class Multiply {
  kF32,    // f32 elements
  kPairs,  // pairs of bf16 in 32 bits, by AVX512-BF16's vdpbf16ps; the pair runs along the depth
};

// C[j][:] = start + sum over k of X[j,k] * Y[k][:], for j < rows, k < depth. Strides count elements
// of 4 bytes (f32, or a pair). Y and C are rows of `vectors` vectors.
struct TileProduct {
  enum class Start {
    kZero,
    kC,        // what C holds
    kScaledC,  // C[j][:] * scale[:]
  };
  Multiply multiply = Multiply::kF32;
  llvm::Value* x = nullptr;
  int64_t x_row_stride = 0, x_depth_stride = 0;
  llvm::Value* y = nullptr;
  int64_t y_stride = 0;
  llvm::Value* c = nullptr;
  int64_t c_stride = 0;
  llvm::Value* rows = nullptr;   // i64
  llvm::Value* depth = nullptr;  // i64
  int64_t vectors = 1;
  Start start = Start::kZero;
  llvm::Value* scale = nullptr;
};

class TileEmitter {
 public:
  using Value = llvm::Value;
  using Values = std::vector<llvm::Value*>;

  // Begins the function `symbol` of `module`, of type KernelFn.
  TileEmitter(llvm::Module& module, const std::string& symbol, const Target& target);
  // Returns from the function. Nothing may follow.
  void Finish() { ir_.CreateRetVoid(); }

  llvm::IRBuilder<>& ir() { return ir_; }
  int lanes() const { return vectors_.lanes(); }
  Value* begin_unit() const { return function_->getArg(2); }
  Value* end_unit() const { return function_->getArg(3); }

  // Integers are i64.
  Value* Int(int64_t value) { return ir_.getInt64(value); }
  Value* Min(Value* a, Value* b) { return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
  Value* Max(Value* a, Value* b) { return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }
  Value* Add(Value* a, int64_t b) { return ir_.CreateAdd(a, Int(b)); }
  Value* Mul(Value* a, int64_t b) { return ir_.CreateMul(a, Int(b)); }

  // Addresses: a buffer of the launch, a place in the thread's scratch, `index` times
  // `element_bytes` from `base`.
  Value* Buffer(int index);
  Value* Scratch(int64_t offset_bytes);
  Value* At(Value* base, Value* index, int64_t element_bytes);
  Value* At(Value* base, int64_t offset_bytes);

  // for (i = begin; i < end; i += step) carried = body(i, carried); returns what is carried out.
  Values For(Value* begin, Value* end, int64_t step, const Values& initial,
             absl::FunctionRef<Values(Value* index, const Values& carried)> body);
  void For(Value* begin, Value* end, int64_t step, absl::FunctionRef<void(Value* index)> body);
  // condition ? then() : otherwise.
  Values If(Value* condition, const Values& otherwise, absl::FunctionRef<Values()> then);
  void If(Value* condition, absl::FunctionRef<void()> then);

  // f32 vectors.
  llvm::VectorType* FloatVector() { return vectors_.VectorOf(ir_.getFloatTy()); }
  llvm::VectorType* IntVector() { return vectors_.VectorOf(ir_.getInt32Ty()); }
  Value* Splat(float value) { return vectors_.ConstantVector(DType::kF32, value); }
  Value* Splat(Value* scalar) { return ir_.CreateVectorSplat(lanes(), scalar); }
  Value* MulAdd(Value* a, Value* b, Value* c);
  Value* Largest(Value* a, Value* b);
  Value* Exp(Value* x) { return Apply(ir::UnaryFn::kExp, x); }
  Value* Log(Value* x) { return Apply(ir::UnaryFn::kLog, x); }
  // The lanes' sum, as a scalar.
  Value* SumLanes(Value* x);
  // Lane i of the result is the sum of the lanes of vectors[i], of which there are lanes().
  Value* SumEach(Values vectors);
  // Its largest lane, in every lane.
  Value* LargestLane(Value* x);
  // i1 vector: lane i is i < count (i64).
  Value* LanesBelow(Value* count);
  // For Multiply::kPairs: two f32 vectors as one of pairs (i32, `low` in the lower halves), and one
  // as bf16. By the processor's instructions, which make 0 of subnormals.
  Value* PackPairs(Value* low, Value* high);
  Value* NarrowToBF16(Value* x);

  // Whole vectors in scratch, aligned to an element at least.
  Value* LoadFloats(Value* address) { return LoadVector(FloatVector(), address); }
  Value* LoadInts(Value* address) { return LoadVector(IntVector(), address); }
  Value* LoadVector(llvm::Type* type, Value* address);
  // The i32 lanes of `mask`, zero elsewhere.
  Value* LoadInts(Value* address, Value* mask);
  void Store(Value* vector, Value* address);
  // Starts to read a cache line; any address will do.
  void Prefetch(Value* address);
  // `count` <= lanes elements of a tensor's row, widened, zero beyond; and the way back.
  Value* LoadElements(DType dtype, Value* address, int64_t count);
  void StoreElements(DType dtype, Value* vector, Value* address, int64_t count);
  // `count` elements of 16 or 32 bits as integers in 32-bit lanes, zero beyond.
  Value* LoadBits(int bits, Value* address, int64_t count);

  // Calls body(start, count) for consecutive pieces of [0, elements) of at most lanes() each; only
  // the last may be shorter.
  void ForPieces(int64_t elements, absl::FunctionRef<void(Value* start, int64_t count)> body);

  // lanes() vectors as the rows of a square; returns its columns.
  Values Transpose(Values rows);

  void Product(const TileProduct& product);

 private:
  Value* Apply(ir::UnaryFn fn, Value* x);
  Value* MaskOf(int64_t count);
  // Rows [row, row + rows) and vectors [first, first + vectors) of a product, in registers.
  void ProductBlock(const TileProduct& product, Value* row, int64_t rows, int64_t first,
                    int64_t vectors);
  Value* MultiplyAdd(Multiply multiply, Value* x, Value* y, Value* sum);

  llvm::IRBuilder<> ir_;
  VectorBuilder vectors_;
  const bool has_fma_;
  // Registers that a product may keep sums in.
  const int64_t accumulators_;
  llvm::Function* function_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_TILE_EMITTER_H_
