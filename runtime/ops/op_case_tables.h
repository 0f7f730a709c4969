// The case tables, one per file, and what they are written with.
#ifndef TRENCADIS_RUNTIME_OPS_OP_CASE_TABLES_H_
#define TRENCADIS_RUNTIME_OPS_OP_CASE_TABLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ops/op_case.h"

namespace trencadis::ops {

using OpCases = std::vector<OpCase>;
using Ints = std::vector<int64_t>;

void AddGeneratorCases(OpCases& cases);
void AddUnaryCases(OpCases& cases);
void AddBinaryCases(OpCases& cases);
void AddLogicalCases(OpCases& cases);
void AddRandomCases(OpCases& cases);
void AddViewCases(OpCases& cases);
void AddReductionCases(OpCases& cases);
void AddMatmulCases(OpCases& cases);
void AddIndexingCases(OpCases& cases);
void AddAttentionCases(OpCases& cases);
void AddLossCases(OpCases& cases);
void AddStructuralCases(OpCases& cases);

inline OperandSpec Uniform(DType dtype, Shape shape, double low = -2, double high = 2) {
  return {.type = {dtype, std::move(shape)}, .low = low, .high = high};
}
inline OperandSpec Distinct(DType dtype, Shape shape, double low = -2, double high = 2) {
  return {.type = {dtype, std::move(shape)}, .low = low, .high = high, .distinct = true};
}
inline OperandSpec Given(Literal literal) {
  OperandSpec spec;
  spec.type = literal.type();
  spec.values = std::make_shared<const Literal>(std::move(literal));
  return spec;
}
template <typename T>
OperandSpec Given(Shape shape, const std::vector<T>& values) {
  return Given(Literal::FromVector<T>(std::move(shape), values));
}

// One case of `op` per dtype and shape, all operands alike but for their ranges. f32 gets every
// shape worth trying: scalar, empty, one element, odd remainders, more than a thread's share.
struct Range {
  double low;
  double high;
};
void AddElementwiseCases(OpCases& cases, const std::string& op, const std::vector<Range>& ranges,
                         const std::vector<DType>& dtypes);
// A case of 2^20 elements to time.
void AddLargeElementwiseCase(OpCases& cases, const std::string& op,
                             const std::vector<Range>& ranges, DType dtype);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_OP_CASE_TABLES_H_
