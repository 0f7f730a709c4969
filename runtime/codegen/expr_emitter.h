// ExprEmitter: one kernel function of a LoopBody, being written in LLVM IR.
//
// Loops open *levels*: 0 is the function's entry, 1 the loop over units, and so on. Each variable
// is set at some level, and an expression is emitted once, at the outermost level where all its
// variables are set, so that a scalar computed from a learning rate leaves the loop over elements
// without help from alias analysis. One variable is the *lane variable*: lane i stands for its
// value plus i. A level may hold several *replicas* of its variables (an unrolled loop);
// expressions are emitted and remembered per replica. Used by one thread.
#ifndef TRENCADIS_RUNTIME_CODEGEN_EXPR_EMITTER_H_
#define TRENCADIS_RUNTIME_CODEGEN_EXPR_EMITTER_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "runtime/codegen/loop_body.h"
#include "runtime/codegen/vector_builder.h"

namespace trencadis::codegen {

using Values = std::vector<llvm::Value*>;

class ExprEmitter {
 public:
  // Begins the function `symbol` of `module`, of type KernelFn; `body` must outlive the emitter.
  ExprEmitter(const LoopBody& body, int lanes, llvm::Module& module, const std::string& symbol);
  // Returns from the function. Nothing may follow.
  void Finish();

  llvm::IRBuilder<>& ir() { return ir_; }
  VectorBuilder& vectors() { return vectors_; }
  int lanes() const { return vectors_.lanes(); }
  llvm::Value* Int(int64_t value) { return ir_.getInt64(value); }
  llvm::Value* begin_unit() const { return begin_unit_; }
  llvm::Value* end_unit() const { return end_unit_; }
  // This thread's scratch, or the launch's shared scratch, `offset_bytes` (i64) into it.
  llvm::Value* Scratch(llvm::Value* offset_bytes);
  llvm::Value* SharedScratch(llvm::Value* offset_bytes);

  // for (i = begin; i < end; i += step) carried = body(i, carried): opens a level for the body.
  // Returns what is carried out of the last iteration, `initial` when there is none.
  Values For(llvm::Value* begin, llvm::Value* end, int64_t step, const Values& initial,
             absl::FunctionRef<Values(llvm::Value* index, const Values& carried)> body);
  // Sets variables, outermost first, from their row-major position `index`; their extents' product
  // bounds it.
  void SetVariablesFrom(llvm::Value* index, const std::vector<int>& variables);

  // At the current level, for its selected replica.
  void SetVariable(int variable, llvm::Value* value);
  void SelectReplica(int level, int replica);
  llvm::Value* Variable(int variable) const;
  llvm::Value* Offset(const Affine& index);
  int level() const { return static_cast<int>(levels_.size()) - 1; }
  // Which variable runs over lanes, and which lanes count (null: all). -1: none.
  void SetLaneVariable(int variable) { lane_variable_ = variable; }
  void SetMask(llvm::Value* mask) { mask_ = mask; }
  llvm::Value* mask() const { return mask_; }
  // The vector that stands for reduction `index` from here on, or null to forget it.
  void SetReduction(int index, llvm::Value* vector) { reductions_[index] = vector; }

  // Expression `expr` may be read from this thread's scratch at `offset_bytes`, element number
  // SetScratchIndex.
  void SetScratchCopy(int expr, int64_t offset_bytes) { scratch_copies_[expr] = offset_bytes; }
  // Position of the current element in scratch copies, lane i being one further each.
  void SetScratchIndex(llvm::Value* index) { SetVariable(scratch_variable_, index); }
  void WriteScratchCopy(int expr, int64_t offset_bytes);

  // The vector of expression `expr`.
  llvm::Value* Get(int expr);
  // Stores an expression to its output: all lanes that count, or only lane 0.
  void StoreLanes(const Store& store);
  void StoreLaneZero(const Store& store);

  // Contiguous lanes as they are computed with, at an address; the second respects the mask.
  llvm::Value* LoadContiguous(llvm::Value* address, llvm::Type* lane, int64_t alignment);
  void StoreContiguous(llvm::Value* address, llvm::Value* vector, int64_t alignment);

 private:
  struct Level {
    llvm::BasicBlock* block = nullptr;  // ends where the next level's loop begins
    std::vector<std::unordered_map<int, llvm::Value*>> known{1};  // expressions, per replica
    int replica = 0;
  };

  llvm::Value* Buffer(int index);
  int LevelOf(const Expr& expr) const;
  // How `dtype` lies in a scratch copy: as it is computed with, bool in a byte.
  llvm::Type* CopyType(DType dtype) const;
  llvm::Value* CopyAddress(DType dtype, int64_t offset_bytes);
  llvm::Value* ReadScratchCopy(DType dtype, int64_t offset_bytes);
  llvm::Value* Emit(const Expr& expr);
  llvm::Value* EmitOp(const Expr& expr);
  llvm::Value* EmitConstant(const Literal& literal);
  llvm::Value* EmitIota(const Expr& expr);
  llvm::Value* TableOf(const Literal& literal);
  // Elements of `dtype` at base[index] for each lane, as stored.
  llvm::Value* LoadElements(llvm::Value* base, DType dtype, const Affine& index);
  llvm::Value* LaneNumbers(llvm::Type* integer, int64_t step);
  llvm::Value* ReverseLanes(llvm::Value* vector);
  static llvm::Constant* One(llvm::Type* vector);

  const LoopBody& body_;
  llvm::IRBuilder<> ir_;
  VectorBuilder vectors_;
  llvm::Function* function_ = nullptr;
  llvm::Value* begin_unit_ = nullptr;
  llvm::Value* end_unit_ = nullptr;
  Values buffers_;  // inputs, outputs, shared scratch
  std::vector<Level> levels_;
  // Of each variable (the last one counts scratch elements): its level and its value per replica.
  std::vector<int> variable_levels_;
  std::vector<Values> variable_values_;
  const int scratch_variable_;
  int lane_variable_ = -1;
  llvm::Value* mask_ = nullptr;
  Values reductions_;
  std::unordered_map<int, int64_t> scratch_copies_;
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_EXPR_EMITTER_H_
