#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace trencadis::training {

absl::StatusOr<ScheduleKind> ParseScheduleKind(absl::string_view name) {
  if (name == "linear") return ScheduleKind::kLinear;
  if (name == "cosine") return ScheduleKind::kCosine;
  if (name == "constant") return ScheduleKind::kConstant;
  if (name == "constant_with_warmup") return ScheduleKind::kConstantWithWarmup;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown lr_scheduler_type '", name,
                   "'; wanted linear, cosine, constant or constant_with_warmup"));
}

double LearningRateSchedule::RateAt(int64_t step) const {
  const auto at = static_cast<double>(step);
  if (kind == ScheduleKind::kConstant) return base_rate;
  if (step < warmup_steps) return base_rate * at / static_cast<double>(warmup_steps);
  if (kind == ScheduleKind::kConstantWithWarmup) return base_rate;
  const auto decay_steps = static_cast<double>(std::max<int64_t>(1, total_steps - warmup_steps));
  const double progress = (at - static_cast<double>(warmup_steps)) / decay_steps;
  if (kind == ScheduleKind::kLinear) return base_rate * std::max(0.0, 1.0 - progress);
  return base_rate * std::max(0.0, 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
}

int64_t WarmupSteps(int64_t warmup_steps, double ratio, int64_t total_steps) {
  if (warmup_steps > 0) return warmup_steps;
  return static_cast<int64_t>(std::ceil(static_cast<double>(total_steps) * ratio));
}

}  // namespace trencadis::training
