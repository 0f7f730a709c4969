#include "runtime/codegen/expr_emitter.h"

#include <algorithm>
#include <utility>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

constexpr int kUnset = -1;

bool FitsInt32(const Affine& index, const std::vector<int64_t>& extents) {
  int64_t low = index.constant;
  int64_t high = index.constant;
  for (int v = 0; v < static_cast<int>(extents.size()); ++v) {
    const int64_t reach = index.coefficient(v) * std::max<int64_t>(extents[v] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  return low >= INT32_MIN && high <= INT32_MAX;
}

}  // namespace

ExprEmitter::ExprEmitter(const LoopBody& body, int lanes, llvm::Module& module,
                         const std::string& symbol)
    : body_(body),
      ir_(module.getContext()),
      vectors_(ir_, lanes),
      buffers_(body.graph->num_inputs() + body.graph->outputs().size() + 1),
      levels_(1),
      variable_levels_(body.extents.size() + 1, kUnset),
      variable_values_(body.extents.size() + 1, Values(1)),
      scratch_variable_(static_cast<int>(body.extents.size())),
      reductions_(body.reductions.size()) {
  llvm::Type* pointer = ir_.getPtrTy();
  llvm::Type* integer = ir_.getInt64Ty();
  function_ = llvm::Function::Create(
      llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer, integer, integer}, false),
      llvm::Function::ExternalLinkage, symbol, module);
  function_->setDoesNotThrow();
  begin_unit_ = function_->getArg(2);
  end_unit_ = function_->getArg(3);
  ir_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function_));
}

void ExprEmitter::Finish() { ir_.CreateRetVoid(); }

llvm::Value* ExprEmitter::Buffer(int index) {
  if (buffers_[index] != nullptr) return buffers_[index];
  // At the very start of the function, where it serves every later use.
  llvm::IRBuilderBase::InsertPointGuard guard(ir_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  ir_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  llvm::Value* slot = ir_.CreateConstInBoundsGEP1_64(ir_.getPtrTy(), function_->getArg(0), index);
  return buffers_[index] = ir_.CreateLoad(ir_.getPtrTy(), slot);
}

llvm::Value* ExprEmitter::Scratch(llvm::Value* offset_bytes) {
  return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), function_->getArg(1), offset_bytes);
}

llvm::Value* ExprEmitter::SharedScratch(llvm::Value* offset_bytes) {
  return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), Buffer(static_cast<int>(buffers_.size()) - 1),
                               offset_bytes);
}

Values ExprEmitter::For(llvm::Value* begin, llvm::Value* end, int64_t step, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(ir_.getContext(), "loop", function_);
  auto* exit = llvm::BasicBlock::Create(ir_.getContext(), "exit", function_);
  ir_.CreateCondBr(ir_.CreateICmpSLT(begin, end), loop, exit);
  levels_.back().block = before;
  levels_.emplace_back();

  ir_.SetInsertPoint(loop);
  llvm::PHINode* index = ir_.CreatePHI(ir_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  std::vector<llvm::PHINode*> phis;
  Values carried;
  for (llvm::Value* value : initial) {
    phis.push_back(ir_.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    carried.push_back(phis.back());
  }
  const Values out = body(index, carried);
  llvm::Value* next = ir_.CreateAdd(index, Int(step));
  llvm::BasicBlock* latch = ir_.GetInsertBlock();
  ir_.CreateCondBr(ir_.CreateICmpSLT(next, end), loop, exit);
  index->addIncoming(next, latch);

  ir_.SetInsertPoint(exit);
  Values results;
  for (size_t i = 0; i < initial.size(); ++i) {
    phis[i]->addIncoming(out[i], latch);
    llvm::PHINode* result = ir_.CreatePHI(initial[i]->getType(), 2);
    result->addIncoming(initial[i], before);
    result->addIncoming(out[i], latch);
    results.push_back(result);
  }
  for (int& variable_level : variable_levels_) {
    if (variable_level == level()) variable_level = kUnset;
  }
  levels_.pop_back();
  return results;
}

void ExprEmitter::SetVariablesFrom(llvm::Value* index, const std::vector<int>& variables) {
  for (size_t i = variables.size(); i-- > 1;) {
    llvm::Value* extent = Int(body_.extents[variables[i]]);
    SetVariable(variables[i], ir_.CreateURem(index, extent));
    index = ir_.CreateUDiv(index, extent);
  }
  if (!variables.empty()) SetVariable(variables[0], index);
}

void ExprEmitter::SetVariable(int variable, llvm::Value* value) {
  const size_t replica = levels_.back().replica;
  variable_levels_[variable] = level();
  Values& values = variable_values_[variable];
  if (values.size() <= replica) values.resize(replica + 1);
  values[replica] = value;
}

void ExprEmitter::SelectReplica(int level, int replica) {
  Level& selected = levels_[level];
  selected.replica = replica;
  if (static_cast<int>(selected.known.size()) <= replica) selected.known.resize(replica + 1);
}

llvm::Value* ExprEmitter::Variable(int variable) const {
  TRENCADIS_CHECK(variable_levels_[variable] != kUnset);
  return variable_values_[variable][levels_[variable_levels_[variable]].replica];
}

int ExprEmitter::LevelOf(const Expr& expr) const {
  // A reduction's result exists per unit even where there is only one unit.
  int result = expr.after_reduction ? 1 : 0;
  for (int v = 0; v < static_cast<int>(body_.extents.size()); ++v) {
    if ((expr.variables >> v & 1) == 0) continue;
    TRENCADIS_CHECK(variable_levels_[v] != kUnset);
    result = std::max(result, variable_levels_[v]);
  }
  return result;
}

llvm::Value* ExprEmitter::Get(int id) {
  const Expr& expr = body_.exprs[id];
  if (expr.kind == Expr::Kind::kReduction) {
    TRENCADIS_CHECK(reductions_[expr.source] != nullptr);
    return reductions_[expr.source];
  }
  const auto copy = scratch_copies_.find(id);
  // Outside the loops over a row there is no element to read.
  const bool is_copied =
      copy != scratch_copies_.end() && variable_levels_[scratch_variable_] != kUnset;
  const int at = is_copied ? variable_levels_[scratch_variable_] : LevelOf(expr);
  auto& known = levels_[at].known[levels_[at].replica];
  const auto found = known.find(id);
  if (found != known.end()) return found->second;

  llvm::IRBuilderBase::InsertPointGuard guard(ir_);
  const bool is_outer = at < level();
  if (is_outer) ir_.SetInsertPoint(levels_[at].block->getTerminator());
  llvm::Value* value = nullptr;
  if (is_copied) {
    value = ReadScratchCopy(expr.dtype, copy->second);
  } else {
    value = Emit(expr);
  }
  return levels_[at].known[levels_[at].replica][id] = value;
}

llvm::Value* ExprEmitter::Emit(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kLoad:
      return vectors_.FromStorage(LoadElements(Buffer(expr.source), expr.dtype, expr.index),
                                  expr.dtype);
    case Expr::Kind::kTable: {
      const Literal& literal = *expr.node->attributes.Get<ir::LiteralPtr>("value");
      return vectors_.FromStorage(LoadElements(TableOf(literal), expr.dtype, expr.index),
                                  expr.dtype);
    }
    case Expr::Kind::kSplat:
      return EmitConstant(*expr.node->attributes.Get<ir::LiteralPtr>("value"));
    case Expr::Kind::kIota:
      return EmitIota(expr);
    default:
      return EmitOp(expr);
  }
}

llvm::Value* ExprEmitter::EmitOp(const Expr& expr) {
  Values operands;
  for (int operand : expr.operands) operands.push_back(Get(operand));
  vectors_.Clear();
  std::vector<ir::Scalar> scalars;
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType dtype = body_.exprs[expr.operands[i]].dtype;
    scalars.push_back(vectors_.Wrap(operands[i], dtype == DType::kBF16 ? DType::kF32 : dtype));
  }
  llvm::Value* value =
      vectors_.ValueOf(expr.node->op->scalar(vectors_, scalars, expr.node->attributes));
  return expr.dtype == DType::kBF16 ? vectors_.RoundToBF16(value) : value;
}

llvm::Value* ExprEmitter::EmitConstant(const Literal& literal) {
  if (literal.dtype() == DType::kI64) {
    llvm::Type* type = vectors_.VectorOf(ir_.getInt64Ty());
    return llvm::ConstantInt::get(type, static_cast<uint64_t>(literal.data<int64_t>()[0]));
  }
  if (literal.dtype() == DType::kF32) {
    // By its bits: a double would quieten a NaN.
    llvm::Type* type = vectors_.VectorOf(ir_.getFloatTy());
    return llvm::ConstantFP::get(type, llvm::APFloat(literal.data<float>()[0]));
  }
  return vectors_.ConstantVector(literal.dtype(), literal.AsDouble(0));
}

llvm::Value* ExprEmitter::EmitIota(const Expr& expr) {
  const bool narrow = FitsInt32(expr.index, body_.extents);
  llvm::Type* integer = narrow ? ir_.getInt32Ty() : ir_.getInt64Ty();
  llvm::Value* base = ir_.CreateTrunc(Offset(expr.index), integer);
  llvm::Value* vector = ir_.CreateVectorSplat(lanes(), base);
  const int64_t step = lane_variable_ < 0 ? 0 : expr.index.coefficient(lane_variable_);
  if (step != 0) vector = ir_.CreateAdd(vector, LaneNumbers(integer, step));
  vectors_.Clear();
  const ir::Scalar number = vectors_.Wrap(vector, narrow ? DType::kI32 : DType::kI64);
  return vectors_.ValueOf(vectors_.Convert(number, expr.dtype));
}

llvm::Value* ExprEmitter::TableOf(const Literal& literal) {
  const auto bytes = literal.bytes();
  auto* data = llvm::ConstantDataArray::getString(
      ir_.getContext(), llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      /*AddNull=*/false);
  auto* table =
      new llvm::GlobalVariable(*function_->getParent(), data->getType(),
                               /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, data);
  table->setAlignment(llvm::Align(64));
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return table;
}

llvm::Value* ExprEmitter::Offset(const Affine& index) {
  llvm::Value* offset = Int(index.constant);
  for (int v = 0; v < static_cast<int>(index.coefficients.size()); ++v) {
    if (index.coefficients[v] == 0) continue;
    llvm::Value* term = ir_.CreateMul(Variable(v), Int(index.coefficients[v]));
    offset = ir_.CreateAdd(offset, term);
  }
  return offset;
}

llvm::Value* ExprEmitter::LaneNumbers(llvm::Type* integer, int64_t step) {
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < lanes(); ++lane) {
    numbers.push_back(llvm::ConstantInt::getSigned(integer, lane * step));
  }
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* ExprEmitter::ReverseLanes(llvm::Value* vector) {
  return ir_.CreateIntrinsic(llvm::Intrinsic::vector_reverse, {vector->getType()}, {vector});
}

llvm::Value* ExprEmitter::LoadContiguous(llvm::Value* address, llvm::Type* lane,
                                         int64_t alignment) {
  llvm::VectorType* type = vectors_.VectorOf(lane);
  if (mask_ == nullptr) return ir_.CreateAlignedLoad(type, address, llvm::Align(alignment));
  return ir_.CreateMaskedLoad(type, address, llvm::Align(alignment), mask_, One(type));
}

void ExprEmitter::StoreContiguous(llvm::Value* address, llvm::Value* vector, int64_t alignment) {
  if (mask_ == nullptr) {
    ir_.CreateAlignedStore(vector, address, llvm::Align(alignment));
  } else {
    ir_.CreateMaskedStore(vector, address, llvm::Align(alignment), mask_);
  }
}

// What lanes that do not count hold: a number that sends no function down a slow path.
llvm::Constant* ExprEmitter::One(llvm::Type* vector) {
  if (vector->isFPOrFPVectorTy()) return llvm::ConstantFP::get(vector, 1.0);
  constexpr uint64_t kOneInBF16 = 0x3f80;
  return llvm::ConstantInt::get(vector, vector->getScalarSizeInBits() == 16 ? kOneInBF16 : 1);
}

llvm::Value* ExprEmitter::LoadElements(llvm::Value* base, DType dtype, const Affine& index) {
  llvm::Type* element = vectors_.StorageType(dtype);
  const int64_t bytes = ByteSize(dtype);
  const int64_t step = lane_variable_ < 0 ? 0 : index.coefficient(lane_variable_);
  llvm::Value* address = ir_.CreateInBoundsGEP(element, base, Offset(index));
  if (step == 0) {
    return ir_.CreateVectorSplat(lanes(),
                                 ir_.CreateAlignedLoad(element, address, llvm::Align(bytes)));
  }
  if (step == 1) return LoadContiguous(address, element, bytes);
  if (step == -1) {
    llvm::Value* first = ir_.CreateGEP(element, address, Int(1 - lanes()));
    llvm::VectorType* type = vectors_.VectorOf(element);
    if (mask_ == nullptr) {
      return ReverseLanes(ir_.CreateAlignedLoad(type, first, llvm::Align(bytes)));
    }
    return ReverseLanes(
        ir_.CreateMaskedLoad(type, first, llvm::Align(bytes), ReverseLanes(mask_), One(type)));
  }
  llvm::Value* addresses = ir_.CreateGEP(element, address, LaneNumbers(ir_.getInt64Ty(), step));
  llvm::VectorType* type = vectors_.VectorOf(element);
  return ir_.CreateMaskedGather(type, addresses, llvm::Align(bytes), mask_, One(type));
}

llvm::Type* ExprEmitter::CopyType(DType dtype) const {
  return dtype == DType::kBool ? vectors_.StorageType(dtype) : vectors_.LaneType(dtype);
}

llvm::Value* ExprEmitter::CopyAddress(DType dtype, int64_t offset_bytes) {
  llvm::Value* copy = Scratch(ir_.getInt64(offset_bytes));
  return ir_.CreateInBoundsGEP(CopyType(dtype), copy, Variable(scratch_variable_));
}

llvm::Value* ExprEmitter::ReadScratchCopy(DType dtype, int64_t offset_bytes) {
  llvm::Type* type = CopyType(dtype);
  llvm::Value* stored =
      LoadContiguous(CopyAddress(dtype, offset_bytes), type, type->getScalarSizeInBits() / 8);
  return dtype == DType::kBool ? vectors_.FromStorage(stored, dtype) : stored;
}

void ExprEmitter::WriteScratchCopy(int id, int64_t offset_bytes) {
  const DType dtype = body_.exprs[id].dtype;
  llvm::Value* vector = Get(id);
  if (dtype == DType::kBool) vector = vectors_.ToStorage(vector, dtype);
  StoreContiguous(CopyAddress(dtype, offset_bytes), vector,
                  CopyType(dtype)->getScalarSizeInBits() / 8);
}

void ExprEmitter::StoreLanes(const Store& store) {
  const DType dtype = body_.exprs[store.expr].dtype;
  llvm::Value* vector = vectors_.ToStorage(Get(store.expr), dtype);
  llvm::Type* element = vectors_.StorageType(dtype);
  llvm::Value* base = Buffer(body_.graph->num_inputs() + store.output);
  llvm::Value* address = ir_.CreateInBoundsGEP(element, base, Offset(store.index));
  const int64_t step = store.index.coefficient(lane_variable_);
  if (step == 1) {
    StoreContiguous(address, vector, ByteSize(dtype));
    return;
  }
  llvm::Value* addresses = ir_.CreateGEP(element, address, LaneNumbers(ir_.getInt64Ty(), step));
  ir_.CreateMaskedScatter(vector, addresses, llvm::Align(ByteSize(dtype)), mask_);
}

void ExprEmitter::StoreLaneZero(const Store& store) {
  const DType dtype = body_.exprs[store.expr].dtype;
  llvm::Value* vector = vectors_.ToStorage(Get(store.expr), dtype);
  llvm::Value* base = Buffer(body_.graph->num_inputs() + store.output);
  llvm::Value* address =
      ir_.CreateInBoundsGEP(vectors_.StorageType(dtype), base, Offset(store.index));
  ir_.CreateAlignedStore(ir_.CreateExtractElement(vector, uint64_t{0}), address,
                         llvm::Align(ByteSize(dtype)));
}

}  // namespace trencadis::codegen
