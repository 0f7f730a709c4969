#include "runtime/compiler/emitter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/compiler/builtin_lowering.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/compiler/memory_planner.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::compiler {
namespace {

using recipe::BufferSlice;

constexpr uint64_t kAlignment = recipe::kArenaAlignment;

// "exp", or the ops of a fusion: "mul+add+rsqrt".
std::string OpSummary(const ir::Node& node) {
  if (ClassOf(node) != ir::OpClass::kFusion) return std::string(node.op->name);
  constexpr int kShown = 6;
  std::string text;
  int ops = 0;
  for (const ir::Node& inner : node.attributes.Get<ir::GraphPtr>("body")->nodes()) {
    const ir::OpClass op_class = ClassOf(inner);
    if (op_class == ir::OpClass::kInput || op_class == ir::OpClass::kGenerator ||
        (op_class == ir::OpClass::kView && ops > 0)) {
      continue;
    }
    if (++ops <= kShown) absl::StrAppend(&text, ops > 1 ? "+" : "", inner.op->name);
  }
  if (ops > kShown) absl::StrAppend(&text, "+", ops - kShown, " more");
  return text;
}

class Emitter {
 public:
  Emitter(const EmitRequest& request, StepLowering& lowering, const codegen::Target& target)
      : graph_(*request.graph), request_(request), lowering_(lowering), target_(target) {}

  absl::StatusOr<recipe::RecipeProto> Run() {
    EmitHeader();
    lifetimes_ = request_.storage->buffers;
    for (int32_t node : request_.steps) TRENCADIS_RETURN_IF_ERROR(EmitStep(node));
    for (int32_t output : request_.storage->copied_outputs) EmitCopy(output);
    LayOutArena();
    EmitObjects();
    for (const recipe::Step& step : recipe_.steps()) {
      recipe_.set_flops(recipe_.flops() + step.flops());
      recipe_.set_bytes_moved(recipe_.bytes_moved() + step.bytes());
    }
    return std::move(recipe_);
  }

 private:
  void EmitHeader() {
    recipe_.set_version(recipe::kRecipeVersion);
    recipe_.set_target(target_.ToString());
    for (int32_t i = 0; i < graph_.num_inputs(); ++i) {
      *recipe_.add_inputs() = recipe::ToProto(graph_.type(graph_.input(i)));
    }
    for (ir::Value output : graph_.outputs()) {
      *recipe_.add_outputs() = recipe::ToProto(graph_.type(output));
    }
    const auto add_pairs = [](const std::vector<OutputPair>& pairs, auto* list) {
      for (const OutputPair& pair : pairs) {
        recipe::Donation& proto = *list->Add();
        proto.set_output(pair.output);
        proto.set_input(pair.input);
      }
    };
    add_pairs(request_.storage->donations, recipe_.mutable_donations());
    add_pairs(request_.storage->passed_through, recipe_.mutable_passed_through());
    recipe_.set_arena_alignment(kAlignment);
  }

  // Arena slices get their buffer's number as offset; LayOutArena puts the real one.
  BufferSlice SliceOf(ir::Value value) {
    const Place& place = request_.storage->PlaceOf(graph_, value);
    BufferSlice slice;
    slice.set_bytes(graph_.type(value).byte_size());
    switch (place.kind) {
      case PlaceKind::kArena:
        slice.set_space(BufferSlice::ARENA);
        slice.set_offset(place.index);
        break;
      case PlaceKind::kInput:
        slice.set_space(BufferSlice::INPUT);
        slice.set_index(place.index);
        break;
      case PlaceKind::kOutput:
        slice.set_space(BufferSlice::OUTPUT);
        slice.set_index(place.index);
        break;
      case PlaceKind::kConstant:
        slice.set_space(BufferSlice::CONSTANT);
        slice.set_offset(ConstantOffset(place.index));
        break;
    }
    return slice;
  }

  uint64_t ConstantOffset(int32_t node) {
    const auto [it, is_new] = constant_offsets_.try_emplace(node, 0);
    if (is_new) {
      const auto bytes = graph_.node(node).attributes.Get<ir::LiteralPtr>("value")->bytes();
      std::string& pool = *recipe_.mutable_constants();
      pool.resize((pool.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
      it->second = pool.size();
      pool.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return it->second;
  }

  absl::Status EmitStep(int32_t id) {
    const ir::Node& node = graph_.node(id);
    TRENCADIS_ASSIGN_OR_RETURN(const int packed, PackedCopyFor(id));
    uint64_t scratch_bytes = 0;
    TRENCADIS_ASSIGN_OR_RETURN(recipe::Step step,
                               lowering_.ToStep(id, target_, packed >= 0, scratch_bytes));
    step.set_label(node.label.empty() ? OpSummary(node)
                                      : absl::StrCat(node.label, ": ", OpSummary(node)));
    for (int operand : lowering_.StepOperands(id)) {
      *step.add_operands() = SliceOf(node.operands[operand]);
    }
    if (packed >= 0) {
      BufferSlice& b = *step.mutable_operands(1);
      b.Clear();
      b.set_space(BufferSlice::PREPARED);
      b.set_index(packed);
      b.set_bytes(recipe_.prepared(packed).bytes());
    }
    for (size_t i = 0; i < node.results.size(); ++i) {
      *step.add_results() = SliceOf({id, static_cast<int32_t>(i)});
    }
    if (scratch_bytes > 0) {
      const int32_t now = recipe_.steps_size();
      step.mutable_scratch()->set_offset(lifetimes_.size());
      step.mutable_scratch()->set_bytes(scratch_bytes);
      lifetimes_.push_back({scratch_bytes, now, now});
    }
    *recipe_.add_steps() = std::move(step);
    return absl::OkStatus();
  }

  // The packed copy of operand b that product `id` reads, made if need be; -1 for none.
  absl::StatusOr<int> PackedCopyFor(int32_t id) {
    const Product* product = lowering_.ProductOf(id);
    if (product == nullptr) return -1;
    const ir::Value b = RootOf(graph_, graph_.node(id).operands[product->operands[1]]);
    if (b.node >= graph_.num_inputs() || !request_.frozen[b.node]) return -1;
    codegen::MatMulSpec spec = product->spec;
    if (spec.m > kMaxPackedRows || !codegen::MatMul::WantsPackedB(spec)) return -1;
    spec.packed_b = true;
    const auto [it, is_new] =
        packed_copies_.try_emplace({b.node, spec.ToString()}, recipe_.prepared_size());
    if (!is_new) return it->second;
    TRENCADIS_ASSIGN_OR_RETURN(const auto matmul, codegen::MatMul::Create(spec, target_));
    recipe::Prepared& prepared = *recipe_.add_prepared();
    prepared.set_input(b.node);
    *prepared.mutable_matmul() = ToProto(spec);
    prepared.set_bytes(matmul->packed_b_bytes());
    return it->second;
  }

  void EmitCopy(int32_t output) {
    const ir::Value value = graph_.outputs()[output];
    recipe::Step& step = *recipe_.add_steps();
    step.set_label(absl::StrCat("copy to output ", output));
    *step.mutable_builtin() = CopyOf(graph_.type(value));
    *step.add_operands() = SliceOf(value);
    BufferSlice& result = *step.add_results();
    result.set_space(BufferSlice::OUTPUT);
    result.set_index(output);
    result.set_bytes(graph_.type(value).byte_size());
    step.set_bytes(2.0 * graph_.type(value).byte_size());
  }

  void LayOutArena() {
    const ArenaPlan plan = PlanArena(lifetimes_, kAlignment);
    recipe_.set_arena_bytes(plan.arena_bytes);
    const auto place = [&](BufferSlice& slice) {
      if (slice.space() != BufferSlice::ARENA) return;
      slice.set_offset(slice.bytes() > 0 ? plan.offsets[slice.offset()] : 0);
    };
    for (recipe::Step& step : *recipe_.mutable_steps()) {
      for (BufferSlice& slice : *step.mutable_operands()) place(slice);
      for (BufferSlice& slice : *step.mutable_results()) place(slice);
      place(*step.mutable_scratch());
    }
    recipe::MemoryPlanProto& proto = *recipe_.mutable_plan();
    proto.set_peak_bytes(plan.arena_bytes);
    proto.set_lower_bound_bytes(plan.lower_bound_bytes);
    proto.set_fragmentation_bytes(plan.fragmentation_bytes());
    proto.set_peak_step(plan.peak_step);
    for (size_t i = 0; i < lifetimes_.size(); ++i) {
      recipe::MemoryPlanProto::Value& value = *proto.add_values();
      const bool is_scratch = i >= request_.storage->buffers.size();
      value.set_label(is_scratch ? "scratch" : request_.storage->buffer_labels[i]);
      value.set_offset(plan.offsets[i]);
      value.set_bytes(lifetimes_[i].bytes);
      value.set_first_step(lifetimes_[i].first);
      value.set_last_step(lifetimes_[i].last);
    }
  }

  void EmitObjects() {
    const KernelTable& kernels = lowering_.kernels();
    for (int i = 0; i < kernels.num_kernels(); ++i) {
      if (!kernels.code(i).object.empty()) recipe_.add_objects(kernels.code(i).object);
    }
  }

  const ir::Graph& graph_;
  const EmitRequest& request_;
  StepLowering& lowering_;
  const codegen::Target& target_;
  recipe::RecipeProto recipe_;
  std::vector<Lifetime> lifetimes_;                          // the storage's buffers, then scratch
  absl::flat_hash_map<int32_t, uint64_t> constant_offsets_;  // by node
  absl::flat_hash_map<std::pair<int32_t, std::string>, int> packed_copies_;
};

}  // namespace

absl::StatusOr<recipe::RecipeProto> EmitRecipe(const EmitRequest& request, StepLowering& lowering,
                                               const codegen::Target& target) {
  return Emitter(request, lowering, target).Run();
}

}  // namespace trencadis::compiler
