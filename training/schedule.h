// LearningRateSchedule: the factor on the base learning rate at each optimizer step.
//
// The formulas are those of transformers' optimization.py (get_linear_schedule_with_warmup and its
// relatives).
#ifndef TRENCADIS_TRAINING_SCHEDULE_H_
#define TRENCADIS_TRAINING_SCHEDULE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::training {

enum class ScheduleKind { kLinear, kCosine, kConstant, kConstantWithWarmup };

// "linear", "cosine", "constant", "constant_with_warmup".
absl::StatusOr<ScheduleKind> ParseScheduleKind(absl::string_view name);

struct LearningRateSchedule {
  ScheduleKind kind = ScheduleKind::kLinear;
  double base_rate = 5e-5;
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;

  // The rate that optimizer step `step` (from 0) uses.
  double RateAt(int64_t step) const;
};

// warmup_steps if it is positive, otherwise `ratio` of `total_steps`, rounded up.
int64_t WarmupSteps(int64_t warmup_steps, double ratio, int64_t total_steps);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_SCHEDULE_H_
