#include "runtime/codegen/affine.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

using Ints = std::vector<int64_t>;

// Largest distance that a term covers.
int64_t Reach(int64_t coefficient, int64_t extent) {
  return coefficient * std::max<int64_t>(extent - 1, 0);
}

int64_t FloorMod(int64_t value, int64_t modulus) {
  const int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

absl::Status Uneven(absl::Span<const int64_t> shape) {
  return absl::UnimplementedError(absl::StrCat(
      "a computed value is reshaped to [", absl::StrJoin(shape, ","),
      "] across uneven boundaries; the value must be materialised before the reshape"));
}

// Takes from `rest` the terms of one dimension, of `size` elements `stride` apart; `is_outermost`
// when no dimension is left for larger strides.
absl::Status TakeDimension(Affine& rest, int64_t stride, int64_t size, bool is_outermost,
                           absl::Span<const int64_t> extents, absl::Span<const int64_t> shape,
                           VariableSplit& split, Affine& dim) {
  int64_t low = 0;
  int64_t high = 0;
  for (int v = 0; v < static_cast<int>(rest.coefficients.size()); ++v) {
    const int64_t coefficient = rest.coefficients[v];
    if (coefficient == 0 || (!is_outermost && coefficient % (stride * size) == 0)) continue;
    const int64_t step = coefficient / stride;
    if (!is_outermost && std::abs(Reach(step, extents[v])) >= size) {
      const int64_t inner = size / std::abs(step);
      if (size % std::abs(step) != 0 || extents[v] % inner != 0) return Uneven(shape);
      split = {v, inner};
      return Uneven(shape);
    }
    dim.AddTerm(v, step);
    rest.coefficients[v] = 0;
    (step < 0 ? low : high) += Reach(step, extents[v]);
  }
  dim.constant = is_outermost ? rest.constant / stride : FloorMod(rest.constant / stride, size);
  rest.constant -= dim.constant * stride;
  if (dim.constant + low < 0 || dim.constant + high >= size) return Uneven(shape);
  return absl::OkStatus();
}

Ints WithoutOnes(absl::Span<const int64_t> shape) {
  Ints result;
  for (int64_t dim : shape) {
    if (dim != 1) result.push_back(dim);
  }
  return result;
}

ElementIndex BroadcastOperand(const ir::Node& view, const Shape& operand_shape,
                              const ElementIndex& result) {
  const Ints& axes = view.attributes.Get<Ints>("axes");
  ElementIndex operand{operand_shape.dims(), {}};
  for (size_t i = 0; i < axes.size(); ++i) {
    operand.dims.push_back(operand.shape[i] == 1 ? Affine{} : result.dims[axes[i]]);
  }
  return operand;
}

ElementIndex TransposeOperand(const ir::Node& view, const Shape& operand_shape,
                              const ElementIndex& result) {
  const Ints& permutation = view.attributes.Get<Ints>("permutation");
  ElementIndex operand{operand_shape.dims(), std::vector<Affine>(permutation.size())};
  for (size_t i = 0; i < permutation.size(); ++i) operand.dims[permutation[i]] = result.dims[i];
  return operand;
}

ElementIndex SliceOperand(const ir::Node& view, const Shape& operand_shape,
                          const ElementIndex& result) {
  const Ints& starts = view.attributes.Get<Ints>("starts");
  const Ints& strides = view.attributes.Get<Ints>("strides");
  ElementIndex operand{operand_shape.dims(), {}};
  for (size_t i = 0; i < starts.size(); ++i) {
    Affine dim{starts[i], {}};
    dim.AddScaled(result.dims[i], strides[i]);
    operand.dims.push_back(std::move(dim));
  }
  return operand;
}

ElementIndex ReverseOperand(const ir::Node& view, const Shape& operand_shape,
                            const ElementIndex& result) {
  ElementIndex operand = result;
  for (int64_t axis : view.attributes.Get<Ints>("axes")) {
    Affine dim{operand_shape.dim(static_cast<int>(axis)) - 1, {}};
    dim.AddScaled(result.dims[axis], -1);
    operand.dims[axis] = std::move(dim);
  }
  return operand;
}

}  // namespace

void Affine::AddTerm(int variable, int64_t coefficient) {
  if (variable >= static_cast<int>(coefficients.size())) coefficients.resize(variable + 1);
  coefficients[variable] += coefficient;
}

void Affine::AddScaled(const Affine& other, int64_t factor) {
  constant += other.constant * factor;
  for (int v = 0; v < static_cast<int>(other.coefficients.size()); ++v) {
    if (other.coefficients[v] != 0) AddTerm(v, other.coefficients[v] * factor);
  }
}

bool Affine::operator==(const Affine& other) const {
  const int count = static_cast<int>(std::max(coefficients.size(), other.coefficients.size()));
  for (int v = 0; v < count; ++v) {
    if (coefficient(v) != other.coefficient(v)) return false;
  }
  return constant == other.constant;
}

Affine ElementIndex::Linear() const {
  const Ints strides = Shape(shape).Strides();
  Affine linear;
  for (size_t i = 0; i < dims.size(); ++i) linear.AddScaled(dims[i], strides[i]);
  return linear;
}

absl::StatusOr<ElementIndex> Delinearize(const Affine& linear, absl::Span<const int64_t> shape,
                                         absl::Span<const int64_t> extents, VariableSplit& split) {
  ElementIndex index{Ints(shape.begin(), shape.end()), std::vector<Affine>(shape.size())};
  // An empty tensor has no element to find.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return index;
  const int last_wide = static_cast<int>(
      std::find_if(shape.begin(), shape.end(), [](int64_t d) { return d != 1; }) - shape.begin());
  Affine rest = linear;
  int64_t stride = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    TRENCADIS_RETURN_IF_ERROR(TakeDimension(rest, stride, shape[i], i == last_wide, extents, shape,
                                            split, index.dims[i]));
    stride *= shape[i];
  }
  return index;
}

absl::StatusOr<ElementIndex> Reshaped(const ElementIndex& index, absl::Span<const int64_t> shape,
                                      absl::Span<const int64_t> extents, VariableSplit& split) {
  if (absl::MakeConstSpan(index.shape) == shape) return index;
  if (WithoutOnes(index.shape) != WithoutOnes(shape)) {
    return Delinearize(index.Linear(), shape, extents, split);
  }
  ElementIndex result{Ints(shape.begin(), shape.end()), std::vector<Affine>(shape.size())};
  size_t from = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    while (index.shape[from] == 1) ++from;
    result.dims[i] = index.dims[from++];
  }
  return result;
}

absl::StatusOr<ElementIndex> OperandIndex(const ir::Node& view, const Shape& operand_shape,
                                          const ElementIndex& result,
                                          absl::Span<const int64_t> extents, VariableSplit& split) {
  // Row-major order is what a reshape keeps.
  if (view.op->name == "reshape") return result;
  TRENCADIS_ASSIGN_OR_RETURN(const ElementIndex shaped,
                             Reshaped(result, view.results[0].shape.dims(), extents, split));
  if (view.op->name == "broadcast") return BroadcastOperand(view, operand_shape, shaped);
  if (view.op->name == "transpose") return TransposeOperand(view, operand_shape, shaped);
  if (view.op->name == "slice") return SliceOperand(view, operand_shape, shaped);
  if (view.op->name == "reverse") return ReverseOperand(view, operand_shape, shaped);
  return absl::UnimplementedError(
      absl::StrCat("the view '", view.op->name, "' has no affine index map"));
}

}  // namespace trencadis::codegen
