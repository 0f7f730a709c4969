// Comparison of tensors within a tolerance. Thread-safe.
#ifndef TRENCADIS_RUNTIME_OPS_CLOSE_H_
#define TRENCADIS_RUNTIME_OPS_CLOSE_H_

#include "absl/status/status.h"
#include "runtime/core/literal.h"

namespace trencadis::ops {

// |got - want| <= absolute + relative |want|. Zero: bit for bit but for the sign of zeros.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// OK if the types are equal and every element is close: floats within `tolerance` (a bf16 also one
// unit in its last place further), NaN only to NaN, an infinity only to itself, integers and bools
// exactly. The error names the first element that is not, and counts them.
absl::Status CheckClose(const Literal& got, const Literal& want, Tolerance tolerance);

}  // namespace trencadis::ops

#endif  // TRENCADIS_RUNTIME_OPS_CLOSE_H_
