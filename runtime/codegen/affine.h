// Affine index arithmetic: where the element that a loop iteration needs lies in a tensor.
//
// A loop nest has variables 0..n-1, variable v running over [0, extents[v]). Views of a tensor
// become affine maps of those variables, so that a fused loop reads through them without copying.
// Plain values; pure functions.
#ifndef TRENCADIS_RUNTIME_CODEGEN_AFFINE_H_
#define TRENCADIS_RUNTIME_CODEGEN_AFFINE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/ir/graph.h"

namespace trencadis::codegen {

// constant + sum over v of coefficients[v] * variable v. Missing coefficients are 0.
struct Affine {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;

  int64_t coefficient(int variable) const {
    return variable < static_cast<int>(coefficients.size()) ? coefficients[variable] : 0;
  }
  void AddTerm(int variable, int64_t coefficient);
  // *this += factor * other.
  void AddScaled(const Affine& other, int64_t factor);
  bool DependsOn(int variable) const { return coefficient(variable) != 0; }

  // Equal as functions: missing coefficients count as 0.
  bool operator==(const Affine& other) const;
};

// The place of an element in a row-major tensor, as one affine form per dimension. `shape` may be
// any reshape of the tensor's shape, dims[i] lies in [0, shape[i]).
struct ElementIndex {
  std::vector<int64_t> shape;
  std::vector<Affine> dims;

  // The row-major offset, in elements.
  Affine Linear() const;
};

// A loop variable that must be split before an index becomes affine: into an outer one of
// extent/inner and an inner one of extent `inner`.
struct VariableSplit {
  int variable = -1;
  int64_t inner = 0;
};

// Splits the row-major offset `linear`, which lies in the tensor, into one affine form per
// dimension of `shape`. When a variable first has to be split, says so in `split` and fails; fails
// with Unimplemented and leaves `split` alone when no split helps.
absl::StatusOr<ElementIndex> Delinearize(const Affine& linear, absl::Span<const int64_t> shape,
                                         absl::Span<const int64_t> extents, VariableSplit& split);

// `index` in terms of `shape`, another shape of the same tensor; errors as Delinearize.
absl::StatusOr<ElementIndex> Reshaped(const ElementIndex& index, absl::Span<const int64_t> shape,
                                      absl::Span<const int64_t> extents, VariableSplit& split);

// Where a kView node finds the element of its operand that becomes element `result` of its result;
// errors as Delinearize.
absl::StatusOr<ElementIndex> OperandIndex(const ir::Node& view, const Shape& operand_shape,
                                          const ElementIndex& result,
                                          absl::Span<const int64_t> extents, VariableSplit& split);

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_AFFINE_H_
