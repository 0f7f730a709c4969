#include <algorithm>

#include "runtime/codegen/lane_loops.h"
#include "runtime/codegen/loop_kernels.h"

namespace trencadis::codegen {
namespace {

// Operations per element up to which several vectors are in flight at a time.
constexpr double kLightOperations = 12;
constexpr int kMaxUnroll = 4;

// Light bodies are unrolled as far as their length divides: what is left runs under masks.
int UnrollOf(const LoopBody& body, const KernelCost& cost, int64_t extent, int lanes) {
  const double elements = static_cast<double>(std::max<int64_t>(body.GroupCount(0), 1));
  int unroll = cost.flops / elements <= kLightOperations ? kMaxUnroll : 1;
  while (unroll > 1 && extent % (lanes * unroll) != 0 && extent < 8 * lanes * unroll) unroll /= 2;
  return unroll;
}

}  // namespace

KernelCode EmitElementwiseKernel(const LoopBody& body, int lanes, llvm::Module& module,
                                 const std::string& symbol) {
  KernelCode kernel;
  kernel.cost = CostOf(body);
  std::vector<int> outer = body.groups[0];
  const int variable = outer.back();
  outer.pop_back();
  const int64_t extent = body.extents[variable];
  const int64_t blocks = CeilDiv(extent, kChunk);
  const int64_t units = body.GroupCount(0) / extent * blocks;
  const int unroll = UnrollOf(body, kernel.cost, extent, lanes);

  ExprEmitter emitter(body, lanes, module, symbol);
  llvm::IRBuilder<>& ir = emitter.ir();
  const auto unit = [&](llvm::Value* index, const Values&) -> Values {
    llvm::Value* begin = emitter.Int(0);
    llvm::Value* end = emitter.Int(extent);
    if (blocks > 1) {
      begin = ir.CreateMul(ir.CreateURem(index, emitter.Int(blocks)), emitter.Int(kChunk));
      index = ir.CreateUDiv(index, emitter.Int(blocks));
      end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end,
                                     ir.CreateAdd(begin, emitter.Int(kChunk)));
    }
    emitter.SetVariablesFrom(index, outer);
    ForLanes(emitter, variable, begin, end, extent, unroll, {}, [&](int, Values&) {
      // Everything is read before anything is written: an output may lie over an input.
      for (const Store& store : body.stores) emitter.Get(store.expr);
      for (const Store& store : body.stores) emitter.StoreLanes(store);
    });
    return {};
  };
  emitter.For(emitter.begin_unit(), emitter.end_unit(), 1, {}, unit);
  emitter.Finish();
  kernel.stages.push_back({symbol, units, GrainFor(kernel.cost, units, lanes)});
  return kernel;
}

}  // namespace trencadis::codegen
