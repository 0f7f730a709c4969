#include "runtime/compiler/step_lowering.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/compiler/builtin_lowering.h"
#include "runtime/compiler/graph_util.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::compiler {
namespace {

int64_t RoundUp(int64_t bytes) {
  constexpr int64_t kAlignment = recipe::kArenaAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool HasElements(const ir::Node& node) {
  for (const TensorType& type : node.results) {
    if (type.shape.num_elements() > 0) return true;
  }
  return false;
}

bool IsLoss(const ir::Node& node) {
  return node.op->name == "linear_cross_entropy" ||
         node.op->name == "linear_cross_entropy_with_grad";
}

codegen::LinearCrossEntropySpec LossSpecOf(const ir::Graph& graph, const ir::Node& node) {
  const Shape& x = graph.type(node.operands[0]).shape;
  codegen::LinearCrossEntropySpec spec;
  spec.dtype = graph.type(node.operands[0]).dtype;
  spec.rows = x.dim(0);
  spec.width = x.dim(1);
  spec.vocabulary = graph.type(node.operands[1]).shape.dim(0);
  spec.ignore_index = node.attributes.GetOr<int64_t>("ignore_index", -100);
  spec.label_smoothing = node.attributes.GetOr<double>("label_smoothing", 0);
  spec.with_grad = node.attributes.Has("needs_dw");
  spec.needs_dw = node.attributes.GetOr<bool>("needs_dw", false);
  return spec;
}

recipe::LinearCrossEntropyStep ToProto(const codegen::LinearCrossEntropySpec& spec) {
  recipe::LinearCrossEntropyStep step;
  step.set_dtype(static_cast<uint32_t>(spec.dtype));
  step.set_rows(spec.rows);
  step.set_width(spec.width);
  step.set_vocabulary(spec.vocabulary);
  step.set_ignore_index(spec.ignore_index);
  step.set_label_smoothing(spec.label_smoothing);
  step.set_with_grad(spec.with_grad);
  step.set_needs_dw(spec.needs_dw);
  return step;
}

uint64_t FillKernel(const codegen::KernelCode& code, int threads, recipe::KernelStep& kernel) {
  for (const codegen::KernelStage& stage : code.stages) {
    recipe::KernelStage& proto = *kernel.add_stages();
    proto.set_symbol(stage.symbol);
    proto.set_units(stage.units);
    proto.set_grain(stage.grain);
  }
  const int64_t own = RoundUp(code.scratch_bytes_per_thread);
  kernel.set_scratch_bytes_per_thread(own);
  kernel.set_shared_scratch_bytes(code.shared_scratch_bytes);
  return RoundUp(code.shared_scratch_bytes) + own * threads;
}

}  // namespace

recipe::MatMulStep ToProto(const codegen::MatMulSpec& spec) {
  recipe::MatMulStep step;
  step.set_batch(spec.batch);
  step.set_m(spec.m);
  step.set_n(spec.n);
  step.set_k(spec.k);
  step.set_a_dtype(static_cast<uint32_t>(spec.a_dtype));
  step.set_b_dtype(static_cast<uint32_t>(spec.b_dtype));
  step.set_c_dtype(static_cast<uint32_t>(spec.c_dtype));
  step.set_transpose_a(spec.transpose_a);
  step.set_transpose_b(spec.transpose_b);
  step.set_packed_b(spec.packed_b);
  step.set_batched_b(spec.batched_b);
  for (const codegen::PostOp& op : spec.post_ops) {
    recipe::MatMulStep::PostOp& proto = *step.add_post_ops();
    proto.set_kind(std::string(codegen::PostOpName(op.kind)));
    if (op.kind == codegen::PostOpKind::kScale) proto.set_value(op.value);
  }
  return step;
}

absl::StatusOr<StepLowering> StepLowering::Build(const ir::Graph& graph) {
  StepLowering lowering(graph);
  TRENCADIS_ASSIGN_OR_RETURN(lowering.kernels_, KernelTable::Build(graph));
  lowering.kinds_.assign(graph.num_nodes(), Kind::kNone);
  for (int32_t id = graph.num_inputs(); id < graph.num_nodes(); ++id) {
    TRENCADIS_RETURN_IF_ERROR(Annotate(lowering.Classify(id), absl::StrCat("node ", id)));
  }
  return lowering;
}

absl::Status StepLowering::Classify(int32_t id) {
  const ir::Node& node = graph_->node(id);
  if (!HasElements(node)) return absl::OkStatus();
  if (kernels_.KernelOf(id) >= 0) {
    kinds_[id] = Kind::kKernel;
  } else if (IsProduct(node)) {
    TRENCADIS_ASSIGN_OR_RETURN(products_[id], LowerProduct(*graph_, node));
    kinds_[id] = Kind::kProduct;
  } else if (IsLoss(node)) {
    kinds_[id] = Kind::kLoss;
  } else if (ClassOf(node) == ir::OpClass::kIndexing || ClassOf(node) == ir::OpClass::kComposite) {
    TRENCADIS_ASSIGN_OR_RETURN(builtins_[id], LowerBuiltin(*graph_, node));
    kinds_[id] = Kind::kBuiltin;
  }
  return absl::OkStatus();
}

bool StepLowering::MayOverwrite(int32_t id, int operand, int result) {
  switch (kinds_[id]) {
    case Kind::kKernel:
      return kernels_.CanAlias(kernels_.KernelOf(id), operand, result);
    case Kind::kProduct: {
      // What the epilogue adds or multiplies, but no operand of the product itself.
      const Product& product = products_.at(id);
      int position = 2;
      for (const codegen::PostOp& op : product.spec.post_ops) {
        if (!codegen::TakesOperand(op.kind)) continue;
        const bool whole =
            op.kind == codegen::PostOpKind::kAdd || op.kind == codegen::PostOpKind::kMul;
        if (product.operands[position++] == operand) return whole;
      }
      return false;
    }
    default:
      return graph_->node(id).op->traits.updates_operand && operand == 0 && result == 0;
  }
}

const Product* StepLowering::ProductOf(int32_t node) const {
  const auto it = products_.find(node);
  return it == products_.end() ? nullptr : &it->second;
}

std::vector<int> StepLowering::StepOperands(int32_t id) const {
  if (const Product* product = ProductOf(id)) return product->operands;
  std::vector<int> operands;
  for (size_t i = 0; i < graph_->node(id).operands.size(); ++i) {
    operands.push_back(static_cast<int>(i));
  }
  return operands;
}

absl::Status StepLowering::Compile(const codegen::Target& target, int threads) {
  return kernels_.Compile(target, threads);
}

void StepLowering::AddCost(const ir::Node& node, double flops, recipe::Step& step) const {
  double bytes = 0;
  for (ir::Value operand : node.operands) bytes += graph_->type(operand).byte_size();
  for (const TensorType& type : node.results) bytes += type.byte_size();
  step.set_flops(flops);
  step.set_bytes(bytes);
}

absl::StatusOr<recipe::Step> StepLowering::ToStep(int32_t id, const codegen::Target& target,
                                                  bool packed_b, uint64_t& scratch_bytes) {
  const ir::Node& node = graph_->node(id);
  recipe::Step step;
  step.set_label(node.label);
  scratch_bytes = 0;
  switch (kinds_[id]) {
    case Kind::kKernel: {
      const codegen::KernelCode& code = kernels_.code(kernels_.KernelOf(id));
      scratch_bytes = FillKernel(code, target.threads, *step.mutable_kernel());
      step.set_flops(code.cost.flops);
      step.set_bytes(code.cost.bytes);
      break;
    }
    case Kind::kProduct: {
      codegen::MatMulSpec spec = products_.at(id).spec;
      spec.packed_b = packed_b;
      const auto [it, is_new] = scratch_bytes_.try_emplace(spec.ToString(), 0);
      if (is_new) {
        TRENCADIS_ASSIGN_OR_RETURN(const auto matmul, codegen::MatMul::Create(spec, target));
        it->second = matmul->scratchpad_bytes();
      }
      scratch_bytes = it->second;
      *step.mutable_matmul() = ToProto(spec);
      AddCost(node, 2.0 * spec.batch * spec.m * spec.n * spec.k, step);
      break;
    }
    case Kind::kLoss: {
      const codegen::LinearCrossEntropySpec spec = LossSpecOf(*graph_, node);
      TRENCADIS_ASSIGN_OR_RETURN(const auto loss,
                                 codegen::LinearCrossEntropy::Create(spec, target));
      scratch_bytes = loss->scratch_bytes();
      *step.mutable_linear_cross_entropy() = ToProto(spec);
      const double products = spec.needs_dw ? 3 : spec.with_grad ? 2 : 1;
      AddCost(node, 2.0 * products * spec.rows * spec.width * spec.vocabulary, step);
      break;
    }
    case Kind::kBuiltin:
      *step.mutable_builtin() = builtins_.at(id);
      AddCost(node, 0, step);
      break;
    case Kind::kNone:
      return absl::InternalError(absl::StrCat("node ", id, " is no step"));
  }
  return step;
}

}  // namespace trencadis::compiler
