#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/codegen/lane_loops.h"
#include "runtime/codegen/loop_kernels.h"

namespace trencadis::codegen {
namespace {

// Operations per element up to which several vectors are in flight at a time.
constexpr double kLightOperations = 12;
constexpr int kMaxUnroll = 4;
constexpr int64_t kTile = 16;  // the f32 elements of a cache line

// Light bodies are unrolled as far as their length divides: what is left runs under masks.
int UnrollOf(const LoopBody& body, const KernelCost& cost, int64_t extent, int lanes) {
  const double elements = static_cast<double>(std::max<int64_t>(body.GroupCount(0), 1));
  int unroll = cost.flops / elements <= kLightOperations ? kMaxUnroll : 1;
  while (unroll > 1 && extent % (lanes * unroll) != 0 && extent < 8 * lanes * unroll) unroll /= 2;
  return unroll;
}

// An outer variable along which some lane-strided load walks memory one element at a time (so does
// a transpose): running over it innermost reuses cache lines while they are near. -1 when there is
// none.
int TiledVariable(const LoopBody& body, const std::vector<int>& outer, int lane_variable) {
  for (const Expr& expr : body.exprs) {
    const bool loads = expr.kind == Expr::Kind::kLoad || expr.kind == Expr::Kind::kTable;
    if (!loads || std::abs(expr.index.coefficient(lane_variable)) <= 1) continue;
    for (int variable : outer) {
      if (std::abs(expr.index.coefficient(variable)) == 1) return variable;
    }
  }
  return -1;
}

// Block `block` of `size` elements of [0, extent).
std::pair<llvm::Value*, llvm::Value*> BlockOf(ExprEmitter& emitter, llvm::Value* block,
                                              int64_t size, int64_t extent) {
  llvm::IRBuilder<>& ir = emitter.ir();
  if (extent <= size) return {emitter.Int(0), emitter.Int(extent)};
  llvm::Value* begin = ir.CreateMul(block, emitter.Int(size));
  llvm::Value* end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, emitter.Int(extent),
                                              ir.CreateAdd(begin, emitter.Int(size)));
  return {begin, end};
}

}  // namespace

KernelCode EmitElementwiseKernel(const LoopBody& body, int lanes, llvm::Module& module,
                                 const std::string& symbol) {
  KernelCode kernel;
  kernel.cost = CostOf(body);
  std::vector<int> outer = body.groups[0];
  const int variable = outer.back();
  outer.pop_back();
  const int tiled = TiledVariable(body, outer, variable);
  std::erase(outer, tiled);
  const int64_t extent = body.extents[variable];
  const int64_t tiled_extent = tiled < 0 ? 1 : body.extents[tiled];
  const int64_t blocks = CeilDiv(extent, kChunk);
  const int64_t tiles = CeilDiv(tiled_extent, kTile);
  const int64_t units = body.GroupCount(0) / (extent * tiled_extent) * tiles * blocks;
  const int unroll = tiled < 0 ? UnrollOf(body, kernel.cost, extent, lanes) : 1;

  ExprEmitter emitter(body, lanes, module, symbol);
  llvm::IRBuilder<>& ir = emitter.ir();
  // Everything is read before anything is written: an output may lie over an input.
  const auto element = [&] {
    for (const Store& store : body.stores) emitter.Get(store.expr);
    for (const Store& store : body.stores) emitter.StoreLanes(store);
  };
  const auto unit = [&](llvm::Value* index, const Values&) -> Values {
    const auto [begin, end] =
        BlockOf(emitter, ir.CreateURem(index, emitter.Int(blocks)), kChunk, extent);
    index = ir.CreateUDiv(index, emitter.Int(blocks));
    const auto [first, last] =
        BlockOf(emitter, ir.CreateURem(index, emitter.Int(tiles)), kTile, tiled_extent);
    emitter.SetVariablesFrom(ir.CreateUDiv(index, emitter.Int(tiles)), outer);
    const auto tile = [&](llvm::Value* position, const Values&) -> Values {
      emitter.SetVariable(tiled, position);
      element();
      return {};
    };
    ForLanes(emitter, variable, begin, end, extent, unroll, {},
             [&, first = first, last = last](int, Values&) {
               if (tiled < 0) return element();
               emitter.For(first, last, 1, {}, tile);
             });
    return {};
  };
  emitter.For(emitter.begin_unit(), emitter.end_unit(), 1, {}, unit);
  emitter.Finish();
  kernel.stages.push_back({symbol, units, GrainFor(kernel.cost, units, lanes)});
  return kernel;
}

}  // namespace trencadis::codegen
