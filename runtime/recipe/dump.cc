#include "runtime/recipe/dump.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/recipe/recipe.h"

namespace trencadis::recipe {
namespace {

std::string TypeText(const TensorTypeProto& proto) {
  const absl::StatusOr<TensorType> type = FromProto(proto);
  return type.ok() ? type->ToString() : "(unknown type)";
}

std::string DTypeText(uint32_t dtype) {
  const absl::StatusOr<DType> type = DTypeFromProto(dtype);
  return type.ok() ? std::string(DTypeName(*type)) : "?";
}

// The size of the space that `slice` is cut from; 0 when there is no such space.
uint64_t SpaceBytes(const RecipeProto& recipe, const BufferSlice& slice) {
  const auto bytes_of = [&](const auto& types) -> uint64_t {
    if (slice.index() >= static_cast<uint64_t>(types.size())) return 0;
    const absl::StatusOr<TensorType> type = FromProto(types[slice.index()]);
    return type.ok() ? type->byte_size() : 0;
  };
  switch (slice.space()) {
    case BufferSlice::INPUT:
      return bytes_of(recipe.inputs());
    case BufferSlice::OUTPUT:
      return bytes_of(recipe.outputs());
    case BufferSlice::PREPARED:
      return slice.index() < static_cast<uint64_t>(recipe.prepared_size())
                 ? recipe.prepared(slice.index()).bytes()
                 : 0;
    default:
      return 0;
  }
}

std::string KernelText(const KernelStep& kernel) {
  std::string text = "kernel";
  for (const KernelStage& stage : kernel.stages()) {
    absl::StrAppend(&text, " ", stage.symbol(), " over ", stage.units());
  }
  return text;
}

std::string MatMulText(const MatMulStep& matmul) {
  std::string text = absl::StrCat("matmul ");
  if (matmul.batch() != 1) absl::StrAppend(&text, matmul.batch(), "x");
  absl::StrAppend(&text, matmul.m(), "x", matmul.n(), "x", matmul.k(), " ",
                  DTypeText(matmul.a_dtype()), matmul.transpose_a() ? "'" : "", "*",
                  DTypeText(matmul.b_dtype()), matmul.transpose_b() ? "'" : "", "->",
                  DTypeText(matmul.c_dtype()));
  if (matmul.packed_b()) absl::StrAppend(&text, " packed");
  for (const MatMulStep::PostOp& op : matmul.post_ops()) {
    absl::StrAppend(&text, " +", op.kind());
    if (op.value() != 0) absl::StrAppend(&text, "(", op.value(), ")");
  }
  return text;
}

std::string LossText(const LinearCrossEntropyStep& step) {
  return absl::StrCat("linear_cross_entropy", step.with_grad() ? " with gradient " : " ",
                      DTypeText(step.dtype()), " rows ", step.rows(), " width ", step.width(),
                      " vocabulary ", step.vocabulary(), step.needs_dw() ? " dw" : "");
}

void AppendPairs(const google::protobuf::RepeatedPtrField<Donation>& pairs, absl::string_view what,
                 std::string& text) {
  for (const Donation& pair : pairs) {
    absl::StrAppend(&text, "  output ", pair.output(), " ", what, " input ", pair.input(), "\n");
  }
}

void AppendSlices(const RecipeProto& recipe,
                  const google::protobuf::RepeatedPtrField<BufferSlice>& slices,
                  std::string& text) {
  for (int i = 0; i < slices.size(); ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", SliceText(recipe, slices[i]));
  }
}

void AppendStep(const RecipeProto& recipe, int index, std::string& text) {
  const Step& step = recipe.steps(index);
  absl::StrAppend(&text, "  ", index, ": ", KindText(step), " (");
  AppendSlices(recipe, step.operands(), text);
  absl::StrAppend(&text, ") -> ");
  AppendSlices(recipe, step.results(), text);
  if (step.scratch().bytes() > 0) {
    absl::StrAppend(&text, " scratch ", SliceText(recipe, step.scratch()));
  }
  if (!step.label().empty()) absl::StrAppend(&text, "  # ", step.label());
  absl::StrAppend(&text, "\n");
}

}  // namespace

std::string SliceText(const RecipeProto& recipe, const BufferSlice& slice) {
  std::string name;
  switch (slice.space()) {
    case BufferSlice::ARENA:
      name = "arena";
      break;
    case BufferSlice::CONSTANT:
      name = "constant";
      break;
    case BufferSlice::INPUT:
      name = absl::StrCat("input ", slice.index());
      break;
    case BufferSlice::OUTPUT:
      name = absl::StrCat("output ", slice.index());
      break;
    case BufferSlice::PREPARED:
      name = absl::StrCat("packed ", slice.index());
      break;
    default:
      name = "unknown";
  }
  const bool whole = slice.offset() == 0 && slice.bytes() == SpaceBytes(recipe, slice);
  if (whole && slice.space() != BufferSlice::ARENA && slice.space() != BufferSlice::CONSTANT) {
    return name;
  }
  return absl::StrCat(name, "[", slice.offset(), "..", slice.offset() + slice.bytes(), ")");
}

std::string KindText(const Step& step) {
  switch (step.kind_case()) {
    case Step::kKernel:
      return KernelText(step.kernel());
    case Step::kMatmul:
      return MatMulText(step.matmul());
    case Step::kLinearCrossEntropy:
      return LossText(step.linear_cross_entropy());
    case Step::kBuiltin:
      return absl::StrCat("builtin ", step.builtin().name());
    case Step::KIND_NOT_SET:
      break;
  }
  return "unknown";
}

std::string DumpRecipe(const RecipeProto& recipe) {
  std::string text = absl::StrCat(
      "recipe \"", recipe.name(), "\" for target ", recipe.target(), "\n", "arena ",
      recipe.arena_bytes(), " bytes (live at most ", recipe.plan().lower_bound_bytes(),
      "), constants ", recipe.constants().size(), " bytes, objects ", recipe.objects_size(), "\n");
  for (int i = 0; i < recipe.inputs_size(); ++i) {
    absl::StrAppend(&text, "  input ", i, ": ", TypeText(recipe.inputs(i)), "\n");
  }
  for (int i = 0; i < recipe.outputs_size(); ++i) {
    absl::StrAppend(&text, "  output ", i, ": ", TypeText(recipe.outputs(i)), "\n");
  }
  AppendPairs(recipe.donations(), "takes over", text);
  AppendPairs(recipe.passed_through(), "is", text);
  for (int i = 0; i < recipe.prepared_size(); ++i) {
    const Prepared& prepared = recipe.prepared(i);
    absl::StrAppend(&text, "  packed ", i, ": input ", prepared.input(), ", ", prepared.bytes(),
                    " bytes\n");
  }
  absl::StrAppendFormat(&text, "steps: %d, %.4g flops, %.4g bytes moved\n", recipe.steps_size(),
                        recipe.flops(), recipe.bytes_moved());
  for (int i = 0; i < recipe.steps_size(); ++i) AppendStep(recipe, i, text);
  return text;
}

}  // namespace trencadis::recipe
