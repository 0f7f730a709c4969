#include "runtime/codegen/vector_builder.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

using ir::BinaryFn;
using ir::CompareFn;
using ir::Scalar;
using ir::UnaryFn;
using llvm::Intrinsic::ID;

bool IsSigned(DType dtype) { return dtype == DType::kI32 || dtype == DType::kI64; }

// The libm function that computes `fn`, or null when LLVM has an exact instruction for it.
const char* MathFunction(UnaryFn fn) {
  switch (fn) {
    case UnaryFn::kExp:
      return "expf";
    case UnaryFn::kLog:
      return "logf";
    case UnaryFn::kLog1p:
      return "log1pf";
    case UnaryFn::kExpm1:
      return "expm1f";
    case UnaryFn::kTanh:
      return "tanhf";
    case UnaryFn::kErf:
      return "erff";
    case UnaryFn::kSin:
      return "sinf";
    case UnaryFn::kCos:
      return "cosf";
    default:
      return nullptr;
  }
}

}  // namespace

llvm::Type* VectorBuilder::LaneType(DType dtype) const {
  switch (dtype) {
    case DType::kF32:
    case DType::kBF16:
      return ir_.getFloatTy();
    case DType::kI32:
      return ir_.getInt32Ty();
    case DType::kI64:
      return ir_.getInt64Ty();
    case DType::kBool:
      return ir_.getInt1Ty();
    case DType::kU8:
      return ir_.getInt8Ty();
  }
  return nullptr;
}

llvm::Type* VectorBuilder::StorageType(DType dtype) const {
  if (dtype == DType::kBF16) return ir_.getInt16Ty();
  if (dtype == DType::kBool) return ir_.getInt8Ty();
  return LaneType(dtype);
}

llvm::VectorType* VectorBuilder::VectorOf(llvm::Type* lane) const {
  return llvm::FixedVectorType::get(lane, lanes_);
}

Scalar VectorBuilder::Wrap(llvm::Value* vector, DType dtype) {
  values_.push_back({vector, dtype});
  return {static_cast<int>(values_.size()) - 1};
}

llvm::Value* VectorBuilder::FromStorage(llvm::Value* stored, DType dtype) {
  if (dtype == DType::kBF16) {
    llvm::Value* wide = ir_.CreateZExt(stored, VectorOf(ir_.getInt32Ty()));
    return ir_.CreateBitCast(ir_.CreateShl(wide, 16), VectorOf(ir_.getFloatTy()));
  }
  if (dtype == DType::kBool) return ir_.CreateIsNotNull(stored);
  return stored;
}

llvm::Value* VectorBuilder::ToStorage(llvm::Value* vector, DType dtype) {
  if (dtype == DType::kBF16) {
    llvm::Value* bits = ir_.CreateBitCast(vector, VectorOf(ir_.getInt32Ty()));
    return ir_.CreateTrunc(ir_.CreateLShr(bits, 16), VectorOf(ir_.getInt16Ty()));
  }
  if (dtype == DType::kBool) return ir_.CreateZExt(vector, VectorOf(ir_.getInt8Ty()));
  return vector;
}

llvm::Value* VectorBuilder::RoundToBF16(llvm::Value* vector) {
  llvm::Type* ints = VectorOf(ir_.getInt32Ty());
  const auto splat = [&](uint32_t bits) { return llvm::ConstantInt::get(ints, bits); };
  llvm::Value* bits = ir_.CreateBitCast(vector, ints);
  llvm::Value* odd = ir_.CreateAnd(ir_.CreateLShr(bits, 16), splat(1));
  llvm::Value* rounded = ir_.CreateAdd(ir_.CreateAdd(bits, splat(0x7fff)), odd);
  llvm::Value* is_nan = ir_.CreateFCmpUNO(vector, vector);
  llvm::Value* result = ir_.CreateSelect(is_nan, ir_.CreateOr(bits, splat(0x400000)), rounded);
  return ir_.CreateBitCast(ir_.CreateAnd(result, splat(0xffff0000)), vector->getType());
}

llvm::Constant* VectorBuilder::ConstantVector(DType dtype, double value) const {
  llvm::Type* type = VectorOf(LaneType(dtype));
  if (dtype == DType::kBF16) value = ToF32(ToBF16(static_cast<float>(value)));
  if (IsFloat(dtype)) return llvm::ConstantFP::get(type, static_cast<float>(value));
  if (dtype == DType::kBool) return llvm::ConstantInt::get(type, value != 0);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(value)));
}

Scalar VectorBuilder::Constant(DType dtype, double value) {
  return Wrap(ConstantVector(dtype, value), dtype == DType::kBF16 ? DType::kF32 : dtype);
}

llvm::FunctionCallee VectorBuilder::PureFunction(llvm::StringRef name, llvm::Type* type,
                                                 size_t arity) {
  llvm::Module* module = ir_.GetInsertBlock()->getModule();
  const std::vector<llvm::Type*> parameters(arity, type);
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(name, llvm::FunctionType::get(type, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return callee;
}

llvm::Value* VectorBuilder::CallVectorMath(llvm::StringRef name,
                                           llvm::ArrayRef<llvm::Value*> operands) {
  // The x86 vector function ABI: instruction set, N for unmasked, lanes, v per vector argument.
  const char isa = lanes_ == 16 ? 'e' : lanes_ == 8 ? 'd' : 'b';
  const std::string symbol = "_ZGV" + std::string(1, isa) + "N" + std::to_string(lanes_) +
                             std::string(operands.size(), 'v') + "_" + name.str();
  return ir_.CreateCall(PureFunction(symbol, VectorOf(ir_.getFloatTy()), operands.size()),
                        operands);
}

llvm::Value* VectorBuilder::CallPerLane(llvm::StringRef name,
                                        llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Type* lane = ir_.getFloatTy();
  llvm::FunctionCallee callee = PureFunction(name, lane, operands.size());
  llvm::Value* result = llvm::PoisonValue::get(VectorOf(lane));
  for (int i = 0; i < lanes_; ++i) {
    std::vector<llvm::Value*> elements;
    for (llvm::Value* operand : operands) {
      elements.push_back(ir_.CreateExtractElement(operand, i));
    }
    result = ir_.CreateInsertElement(result, ir_.CreateCall(callee, elements), i);
  }
  return result;
}

Scalar VectorBuilder::Unary(UnaryFn fn, Scalar x) {
  llvm::Value* value = ValueOf(x);
  const DType dtype = TypeOf(x);
  const auto intrinsic = [&](ID id) { return ir_.CreateUnaryIntrinsic(id, value); };
  if (const char* name = MathFunction(fn)) return Wrap(CallVectorMath(name, {value}), dtype);
  switch (fn) {
    case UnaryFn::kNeg:
      return Wrap(IsFloat(dtype) ? ir_.CreateFNeg(value) : ir_.CreateNeg(value), dtype);
    case UnaryFn::kAbs:
      if (IsFloat(dtype)) return Wrap(intrinsic(llvm::Intrinsic::fabs), dtype);
      if (!IsSigned(dtype)) return x;
      return Wrap(ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, ir_.getFalse()), dtype);
    case UnaryFn::kSqrt:
      return Wrap(intrinsic(llvm::Intrinsic::sqrt), dtype);
    case UnaryFn::kFloor:
      return Wrap(intrinsic(llvm::Intrinsic::floor), dtype);
    case UnaryFn::kCeil:
      return Wrap(intrinsic(llvm::Intrinsic::ceil), dtype);
    default:
      TRENCADIS_CHECK(fn == UnaryFn::kNot);
      return Wrap(ir_.CreateNot(value), dtype);
  }
}

// As torch.maximum: a NaN operand is the result.
llvm::Value* VectorBuilder::EmitExtremum(bool is_max, llvm::Value* x, llvm::Value* y) {
  // One unordered comparison keeps x's NaN where y is known to be none. It is also the only form
  // that LLVM 19 leaves right for y = 0 and x = fabs(v): its instcombine folds "x > 0 or x is NaN"
  // to the same question about v.
  const auto* constant = llvm::dyn_cast<llvm::Constant>(y);
  const auto* splat = constant == nullptr
                          ? nullptr
                          : llvm::dyn_cast_or_null<llvm::ConstantFP>(constant->getSplatValue());
  if (splat != nullptr && !splat->isNaN()) {
    llvm::Value* x_wins = is_max ? ir_.CreateFCmpUGT(x, y) : ir_.CreateFCmpULT(x, y);
    return ir_.CreateSelect(x_wins, x, y);
  }
  llvm::Value* x_wins = is_max ? ir_.CreateFCmpOGT(x, y) : ir_.CreateFCmpOLT(x, y);
  // An unordered comparison chose y, which is right unless x is the NaN.
  llvm::Value* ordered = ir_.CreateSelect(x_wins, x, y);
  return ir_.CreateSelect(ir_.CreateFCmpUNO(x, x), x, ordered);
}

llvm::Value* VectorBuilder::EmitFloatBinary(BinaryFn fn, llvm::Value* x, llvm::Value* y) {
  switch (fn) {
    case BinaryFn::kAdd:
      return ir_.CreateFAdd(x, y);
    case BinaryFn::kSub:
      return ir_.CreateFSub(x, y);
    case BinaryFn::kMul:
      return ir_.CreateFMul(x, y);
    case BinaryFn::kDiv:
      return ir_.CreateFDiv(x, y);
    case BinaryFn::kRem:
      return CallPerLane("fmodf", {x, y});
    case BinaryFn::kPow:
      return CallVectorMath("powf", {x, y});
    case BinaryFn::kMax:
    case BinaryFn::kMin:
      return EmitExtremum(fn == BinaryFn::kMax, x, y);
    default:
      break;
  }
  TRENCADIS_CHECK(false && "no such function of floats");
  return nullptr;
}

llvm::Value* VectorBuilder::EmitIntegerBinary(BinaryFn fn, bool is_signed, llvm::Value* x,
                                              llvm::Value* y) {
  const auto intrinsic = [&](ID id) { return ir_.CreateBinaryIntrinsic(id, x, y); };
  switch (fn) {
    case BinaryFn::kAdd:
      return ir_.CreateAdd(x, y);
    case BinaryFn::kSub:
      return ir_.CreateSub(x, y);
    case BinaryFn::kMul:
      return ir_.CreateMul(x, y);
    case BinaryFn::kDiv:
      return is_signed ? ir_.CreateSDiv(x, y) : ir_.CreateUDiv(x, y);
    case BinaryFn::kRem:
      return is_signed ? ir_.CreateSRem(x, y) : ir_.CreateURem(x, y);
    case BinaryFn::kMax:
      return intrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
    case BinaryFn::kMin:
      return intrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    case BinaryFn::kAnd:
      return ir_.CreateAnd(x, y);
    case BinaryFn::kOr:
      return ir_.CreateOr(x, y);
    case BinaryFn::kXor:
      return ir_.CreateXor(x, y);
    case BinaryFn::kShiftLeft:
      return ir_.CreateShl(x, y);
    case BinaryFn::kShiftRightLogical:
      return ir_.CreateLShr(x, y);
    default:
      break;
  }
  TRENCADIS_CHECK(fn == BinaryFn::kMulHigh);
  const unsigned bits = x->getType()->getScalarSizeInBits();
  llvm::Type* wide = VectorOf(ir_.getIntNTy(2 * bits));
  llvm::Value* product = ir_.CreateMul(ir_.CreateZExt(x, wide), ir_.CreateZExt(y, wide));
  return ir_.CreateTrunc(ir_.CreateLShr(product, bits), x->getType());
}

llvm::Value* VectorBuilder::EmitBinary(BinaryFn fn, DType dtype, llvm::Value* x, llvm::Value* y) {
  return IsFloat(dtype) ? EmitFloatBinary(fn, x, y) : EmitIntegerBinary(fn, IsSigned(dtype), x, y);
}

Scalar VectorBuilder::Binary(BinaryFn fn, Scalar x, Scalar y) {
  return Wrap(EmitBinary(fn, TypeOf(x), ValueOf(x), ValueOf(y)), TypeOf(x));
}

Scalar VectorBuilder::Compare(CompareFn fn, Scalar x, Scalar y) {
  using Predicate = llvm::CmpInst::Predicate;
  const DType dtype = TypeOf(x);
  struct Row {
    Predicate floating, is_signed, is_unsigned;
  };
  static constexpr Row kRows[] = {
      {Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
      {Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE},
      {Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
      {Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
      {Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
      {Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
  };
  const Row& row = kRows[static_cast<int>(fn)];
  const Predicate predicate = IsFloat(dtype)    ? row.floating
                              : IsSigned(dtype) ? row.is_signed
                                                : row.is_unsigned;
  return Wrap(ir_.CreateCmp(predicate, ValueOf(x), ValueOf(y)), DType::kBool);
}

Scalar VectorBuilder::Select(Scalar condition, Scalar if_true, Scalar if_false) {
  return Wrap(ir_.CreateSelect(ValueOf(condition), ValueOf(if_true), ValueOf(if_false)),
              TypeOf(if_true));
}

Scalar VectorBuilder::Convert(Scalar x, DType dtype) {
  llvm::Value* value = ValueOf(x);
  const DType from = TypeOf(x);
  if (dtype == from) return x;
  llvm::Type* to = VectorOf(LaneType(dtype));
  if (IsFloat(dtype)) {
    if (!IsFloat(from)) {
      value = IsSigned(from) ? ir_.CreateSIToFP(value, to) : ir_.CreateUIToFP(value, to);
    }
    return Wrap(dtype == DType::kBF16 ? RoundToBF16(value) : value, DType::kF32);
  }
  if (dtype == DType::kBool) {
    if (!IsFloat(from)) return Wrap(ir_.CreateIsNotNull(value), dtype);
    llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
    return Wrap(ir_.CreateFCmpUNE(value, zero), dtype);
  }
  if (!IsFloat(from)) return Wrap(ir_.CreateIntCast(value, to, IsSigned(from)), dtype);
  // Saturating: a plain conversion is undefined out of range, and then differs between lanes.
  const ID id = IsSigned(dtype) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return Wrap(ir_.CreateIntrinsic(id, {to, value->getType()}, {value}), dtype);
}

Scalar VectorBuilder::Fma(Scalar x, Scalar y, Scalar z) {
  llvm::Value* result = ir_.CreateIntrinsic(llvm::Intrinsic::fma, {ValueOf(x)->getType()},
                                            {ValueOf(x), ValueOf(y), ValueOf(z)});
  return Wrap(result, TypeOf(x));
}

llvm::Constant* VectorBuilder::ReductionIdentity(BinaryFn fn, DType dtype) const {
  llvm::Type* type = VectorOf(LaneType(dtype));
  if (fn == BinaryFn::kAdd) return llvm::Constant::getNullValue(type);
  const bool is_max = fn == BinaryFn::kMax;
  if (IsFloat(dtype)) return llvm::ConstantFP::getInfinity(type, /*Negative=*/is_max);
  const unsigned bits = type->getScalarSizeInBits();
  if (IsSigned(dtype)) {
    return llvm::ConstantInt::get(
        type, is_max ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits));
  }
  return llvm::ConstantInt::get(
      type, is_max ? llvm::APInt::getMinValue(bits) : llvm::APInt::getMaxValue(bits));
}

}  // namespace trencadis::codegen
