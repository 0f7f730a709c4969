// SpeedMeter: throughput as optimum-habana's speed_metrics defines it.
#ifndef TRENCADIS_TRAINING_SPEED_H_
#define TRENCADIS_TRAINING_SPEED_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/base/clock.h"
#include "training/results.h"

namespace trencadis::training {

// Counts samples and steps, leaving the first `warmup_steps` out of the rates. Runtime is never
// adjusted: it covers everything since the start.
class SpeedMeter {
 public:
  explicit SpeedMeter(int64_t warmup_steps, Clock& clock = MonotonicClock())
      : clock_(clock), warmup_steps_(warmup_steps), start_s_(clock.NowSeconds()) {}

  void CountStep(int64_t samples, int64_t tokens);

  // `split`_runtime (4 decimals), _samples_per_second, _steps_per_second and _tokens_per_second
  // (3 decimals).
  Metrics Results(absl::string_view split) const;

 private:
  Clock& clock_;
  const int64_t warmup_steps_;
  const double start_s_;
  double counted_from_s_ = 0;
  int64_t steps_ = 0;
  int64_t counted_samples_ = 0;
  int64_t counted_tokens_ = 0;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_SPEED_H_
