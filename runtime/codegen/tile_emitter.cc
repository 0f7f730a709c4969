#include "runtime/codegen/tile_emitter.h"

#include <algorithm>
#include <utility>

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

constexpr int64_t kElementBytes = 4;

// The most vectors of a row that are multiplied together: more leave too few rows in registers to
// pay for loading them.
constexpr int64_t kMostVectors = 4;
constexpr int64_t kMostRows = 12;

}  // namespace

TileEmitter::TileEmitter(llvm::Module& module, const std::string& symbol, const Target& target)
    : ir_(module.getContext()),
      vectors_(ir_, target.Lanes()),
      has_fma_(target.Lanes() > 4),
      // Of 32 registers with AVX-512 and 16 without, less those for the operands.
      accumulators_(target.Lanes() == 16 ? 24 : 12) {
  llvm::Type* pointer = ir_.getPtrTy();
  llvm::Type* integer = ir_.getInt64Ty();
  function_ = llvm::Function::Create(
      llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer, integer, integer}, false),
      llvm::Function::ExternalLinkage, symbol, module);
  function_->setDoesNotThrow();
  function_->addParamAttr(1, llvm::Attribute::NoAlias);
  ir_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function_));
}

llvm::Value* TileEmitter::Buffer(int index) {
  Value* slot = ir_.CreateConstInBoundsGEP1_64(ir_.getPtrTy(), function_->getArg(0), index);
  return ir_.CreateLoad(ir_.getPtrTy(), slot);
}

llvm::Value* TileEmitter::Scratch(int64_t offset_bytes) {
  return At(function_->getArg(1), offset_bytes);
}

llvm::Value* TileEmitter::At(Value* base, Value* index, int64_t element_bytes) {
  return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), base, Mul(index, element_bytes));
}

llvm::Value* TileEmitter::At(Value* base, int64_t offset_bytes) {
  return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), base, offset_bytes);
}

TileEmitter::Values TileEmitter::For(Value* begin, Value* end, int64_t step, const Values& initial,
                                     absl::FunctionRef<Values(Value*, const Values&)> body) {
  llvm::LLVMContext& context = ir_.getContext();
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "head", function_);
  auto* inside = llvm::BasicBlock::Create(context, "body", function_);
  auto* after = llvm::BasicBlock::Create(context, "after", function_);
  ir_.CreateBr(head);
  ir_.SetInsertPoint(head);
  llvm::PHINode* index = ir_.CreatePHI(ir_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  Values carried;
  for (Value* value : initial) {
    llvm::PHINode* phi = ir_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  ir_.CreateCondBr(ir_.CreateICmpSLT(index, end), inside, after);

  ir_.SetInsertPoint(inside);
  const Values next = body(index, carried);
  TRENCADIS_CHECK(next.size() == carried.size());
  index->addIncoming(Add(index, step), ir_.GetInsertBlock());
  for (size_t i = 0; i < next.size(); ++i) {
    llvm::cast<llvm::PHINode>(carried[i])->addIncoming(next[i], ir_.GetInsertBlock());
  }
  ir_.CreateBr(head);
  ir_.SetInsertPoint(after);
  return carried;
}

void TileEmitter::For(Value* begin, Value* end, int64_t step,
                      absl::FunctionRef<void(Value*)> body) {
  For(begin, end, step, {}, [&](Value* index, const Values&) {
    body(index);
    return Values{};
  });
}

TileEmitter::Values TileEmitter::If(Value* condition, const Values& otherwise,
                                    absl::FunctionRef<Values()> then) {
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  auto* inside = llvm::BasicBlock::Create(ir_.getContext(), "then", function_);
  auto* after = llvm::BasicBlock::Create(ir_.getContext(), "after", function_);
  ir_.CreateCondBr(condition, inside, after);
  ir_.SetInsertPoint(inside);
  const Values values = then();
  TRENCADIS_CHECK(values.size() == otherwise.size());
  llvm::BasicBlock* end = ir_.GetInsertBlock();
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
  Values merged;
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::PHINode* phi = ir_.CreatePHI(values[i]->getType(), 2);
    phi->addIncoming(values[i], end);
    phi->addIncoming(otherwise[i], before);
    merged.push_back(phi);
  }
  return merged;
}

void TileEmitter::If(Value* condition, absl::FunctionRef<void()> then) {
  If(condition, {}, [&] {
    then();
    return Values{};
  });
}

llvm::Value* TileEmitter::MulAdd(Value* a, Value* b, Value* c) {
  if (!has_fma_) return ir_.CreateFAdd(ir_.CreateFMul(a, b), c);
  return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

llvm::Value* TileEmitter::Largest(Value* a, Value* b) {
  return ir_.CreateSelect(ir_.CreateFCmpOGT(a, b), a, b);
}

llvm::Value* TileEmitter::Apply(ir::UnaryFn fn, Value* x) {
  Value* result = vectors_.ValueOf(vectors_.Unary(fn, vectors_.Wrap(x, DType::kF32)));
  vectors_.Clear();
  return result;
}

llvm::Value* TileEmitter::SumLanes(Value* x) {
  for (int width = lanes() / 2; width > 0; width /= 2) {
    std::vector<int> upper(lanes());
    for (int i = 0; i < lanes(); ++i) upper[i] = i < width ? i + width : i;
    x = ir_.CreateFAdd(x, ir_.CreateShuffleVector(x, upper));
  }
  return ir_.CreateExtractElement(x, uint64_t{0});
}

llvm::Value* TileEmitter::SumEach(Values vectors) {
  // Each step adds the halves of groups of lanes, and puts those of two vectors side by side.
  for (int group = lanes(); group > 1; group /= 2) {
    const size_t half = vectors.size() / 2;
    std::vector<int> first(lanes()), second(lanes());
    for (int lane = 0; lane < lanes(); ++lane) {
      const int piece = lane / (group / 2);
      first[lane] = piece % 2 * lanes() + piece / 2 * group + lane % (group / 2);
      second[lane] = first[lane] + group / 2;
    }
    for (size_t i = 0; i < half; ++i) {
      Value* a = vectors[i];
      Value* b = vectors[i + half];
      vectors[i] = ir_.CreateFAdd(ir_.CreateShuffleVector(a, b, first),
                                  ir_.CreateShuffleVector(a, b, second));
    }
    vectors.resize(half);
  }
  return vectors[0];
}

llvm::Value* TileEmitter::LargestLane(Value* x) {
  for (int width = lanes() / 2; width > 0; width /= 2) {
    std::vector<int> rotated(lanes());
    for (int i = 0; i < lanes(); ++i) rotated[i] = (i + width) % lanes();
    x = Largest(x, ir_.CreateShuffleVector(x, rotated));
  }
  return x;
}

llvm::Value* TileEmitter::LanesBelow(Value* count) {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (int i = 0; i < lanes(); ++i) numbers.push_back(ir_.getInt32(i));
  count = Min(count, Int(lanes()));
  return ir_.CreateICmpSLT(llvm::ConstantVector::get(numbers),
                           Splat(ir_.CreateTrunc(count, ir_.getInt32Ty())));
}

llvm::Value* TileEmitter::PackPairs(Value* low, Value* high) {
  Value* halves = ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {},
                                      {high, low});  // low first
  std::vector<int> interleaved;
  for (int i = 0; i < lanes(); ++i) {
    interleaved.push_back(i);
    interleaved.push_back(i + lanes());
  }
  return ir_.CreateBitCast(ir_.CreateShuffleVector(halves, interleaved), IntVector());
}

llvm::Value* TileEmitter::NarrowToBF16(Value* x) {
  return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {x});
}

llvm::Value* TileEmitter::LoadVector(llvm::Type* type, Value* address) {
  return ir_.CreateAlignedLoad(type, address, llvm::Align(kElementBytes));
}

llvm::Value* TileEmitter::LoadInts(Value* address, Value* mask) {
  return ir_.CreateMaskedLoad(IntVector(), address, llvm::Align(kElementBytes), mask,
                              llvm::Constant::getNullValue(IntVector()));
}

void TileEmitter::Store(Value* vector, Value* address) {
  const uint64_t bytes = vector->getType()->getScalarSizeInBits() / 8;
  ir_.CreateAlignedStore(vector, address, llvm::Align(bytes));
}

void TileEmitter::Prefetch(Value* address) {
  // To read, into all levels, as data.
  ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                      {address, ir_.getInt32(0), ir_.getInt32(3), ir_.getInt32(1)});
}

llvm::Value* TileEmitter::MaskOf(int64_t count) {
  llvm::SmallVector<llvm::Constant*, 16> bits;
  for (int i = 0; i < lanes(); ++i) bits.push_back(ir_.getInt1(i < count));
  return llvm::ConstantVector::get(bits);
}

llvm::Value* TileEmitter::LoadBits(int bits, Value* address, int64_t count) {
  llvm::Type* type = vectors_.VectorOf(ir_.getIntNTy(bits));
  // Pairs lie in tensors of 2-byte elements.
  const llvm::Align align(2);
  Value* loaded = count == lanes()
                      ? static_cast<Value*>(ir_.CreateAlignedLoad(type, address, align))
                      : ir_.CreateMaskedLoad(type, address, align, MaskOf(count),
                                             llvm::Constant::getNullValue(type));
  return ir_.CreateZExt(loaded, IntVector());
}

llvm::Value* TileEmitter::LoadElements(DType dtype, Value* address, int64_t count) {
  if (dtype == DType::kBF16) {
    Value* bits = ir_.CreateShl(LoadBits(16, address, count), 16);
    return ir_.CreateBitCast(bits, FloatVector());
  }
  return ir_.CreateBitCast(LoadBits(32, address, count), FloatVector());
}

void TileEmitter::StoreElements(DType dtype, Value* vector, Value* address, int64_t count) {
  if (dtype == DType::kBF16) {
    vector = vectors_.ToStorage(vectors_.RoundToBF16(vector), DType::kBF16);
  }
  if (count == lanes()) return Store(vector, address);
  ir_.CreateMaskedStore(vector, address, llvm::Align(ByteSize(dtype)), MaskOf(count));
}

void TileEmitter::ForPieces(int64_t elements, absl::FunctionRef<void(Value*, int64_t)> body) {
  const int64_t whole = elements / lanes() * lanes();
  if (whole > 0) {
    For(Int(0), Int(whole), lanes(), [&](Value* start) { body(start, lanes()); });
  }
  if (whole < elements) body(Int(whole), elements - whole);
}

TileEmitter::Values TileEmitter::Transpose(Values rows) {
  // Swaps the off-diagonal blocks of every square of side 2 * width.
  for (int width = 1; width < lanes(); width *= 2) {
    std::vector<int> first(lanes()), second(lanes());
    for (int lane = 0; lane < lanes(); ++lane) {
      const bool upper = lane & width;
      first[lane] = upper ? lanes() + lane - width : lane;
      second[lane] = upper ? lanes() + lane : lane + width;
    }
    for (int i = 0; i < lanes(); ++i) {
      if (i & width) continue;
      Value* a = rows[i];
      Value* b = rows[i + width];
      rows[i] = ir_.CreateShuffleVector(a, b, first);
      rows[i + width] = ir_.CreateShuffleVector(a, b, second);
    }
  }
  return rows;
}

llvm::Value* TileEmitter::MultiplyAdd(Multiply multiply, Value* x, Value* y, Value* sum) {
  if (multiply == Multiply::kF32) {
    return MulAdd(ir_.CreateBitCast(x, FloatVector()), ir_.CreateBitCast(y, FloatVector()), sum);
  }
  llvm::Type* pairs = llvm::FixedVectorType::get(ir_.getBFloatTy(), 2 * lanes());
  return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                             {sum, ir_.CreateBitCast(x, pairs), ir_.CreateBitCast(y, pairs)});
}

void TileEmitter::ProductBlock(const TileProduct& p, Value* row, int64_t rows, int64_t first,
                               int64_t vectors) {
  const int64_t vector_bytes = lanes() * kElementBytes;
  Value* c = At(At(p.c, row, p.c_stride * kElementBytes), first * vector_bytes);
  Value* x = At(p.x, row, p.x_row_stride * kElementBytes);
  Value* y = At(p.y, first * vector_bytes);
  const auto c_at = [&](int64_t j, int64_t v) {
    return At(c, j * p.c_stride * kElementBytes + v * vector_bytes);
  };
  Values sums;
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t v = 0; v < vectors; ++v) {
      if (p.start == TileProduct::Start::kZero) {
        sums.push_back(Splat(0.0f));
        continue;
      }
      sums.push_back(LoadFloats(c_at(j, v)));
      if (p.start == TileProduct::Start::kScaledC) {
        sums.back() =
            ir_.CreateFMul(sums.back(), LoadFloats(At(p.scale, (first + v) * vector_bytes)));
      }
    }
  }
  sums = For(Int(0), p.depth, 1, sums, [&](Value* k, const Values& carried) {
    Values next = carried;
    Value* x_k = At(x, k, p.x_depth_stride * kElementBytes);
    Value* y_k = At(y, k, p.y_stride * kElementBytes);
    Values ys;
    for (int64_t v = 0; v < vectors; ++v) ys.push_back(LoadInts(At(y_k, v * vector_bytes)));
    for (int64_t j = 0; j < rows; ++j) {
      Value* element = ir_.CreateAlignedLoad(
          ir_.getInt32Ty(), At(x_k, j * p.x_row_stride * kElementBytes), llvm::Align(2));
      Value* splat = Splat(element);
      for (int64_t v = 0; v < vectors; ++v) {
        Value*& sum = next[j * vectors + v];
        sum = MultiplyAdd(p.multiply, splat, ys[v], sum);
      }
    }
    return next;
  });
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t v = 0; v < vectors; ++v) Store(sums[j * vectors + v], c_at(j, v));
  }
}

void TileEmitter::Product(const TileProduct& p) {
  // Vectors in groups as even as can be.
  const int64_t groups = (p.vectors + kMostVectors - 1) / kMostVectors;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = p.vectors * group / groups;
    const int64_t vectors = p.vectors * (group + 1) / groups - first;
    const int64_t most = std::min(kMostRows, accumulators_ / vectors);
    // Blocks of as many rows as fit, then smaller ones for what is left.
    Value* begin = Int(0);
    for (int64_t rows = most; rows > 0; rows = rows > 4 ? 4 : rows > 1 ? 1 : 0) {
      Value* blocks = ir_.CreateSDiv(ir_.CreateSub(p.rows, begin), Int(rows));
      Value* end = ir_.CreateAdd(begin, Mul(blocks, rows));
      // Known row counts need not the code for every remainder.
      const auto* count = llvm::dyn_cast<llvm::ConstantInt>(blocks);
      if (count != nullptr && count->isZero()) continue;
      For(begin, end, rows, [&](Value* row) { ProductBlock(p, row, rows, first, vectors); });
      begin = end;
    }
  }
}

}  // namespace trencadis::codegen
