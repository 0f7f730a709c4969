// SpeedMeter: throughput as optimum-habana's speed_metrics defines it.
#ifndef TRENCADIS_TRAINING_SPEED_H_
#define TRENCADIS_TRAINING_SPEED_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/base/clock.h"
#include "training/results.h"

namespace trencadis::training {

// Counts samples and steps, leaving the first `warmup_steps` and what the caller names out of the
// rates. Runtime is never adjusted: it covers everything since the start.
class SpeedMeter {
 public:
  explicit SpeedMeter(int64_t warmup_steps, Clock& clock = MonotonicClock())
      : clock_(clock), warmup_steps_(warmup_steps), start_s_(clock.NowSeconds()) {}

  void CountStep(int64_t samples, int64_t tokens);

  // Time since the last step that the rates leave out.
  void LeaveOut(double seconds);

  // `split`_runtime (4 decimals), _samples_per_second, _steps_per_second and, on request,
  // _tokens_per_second (3 decimals).
  Metrics Results(absl::string_view split, bool with_tokens) const;

 private:
  Clock& clock_;
  const int64_t warmup_steps_;
  const double start_s_;
  double left_out_s_ = 0;
  int64_t steps_ = 0;
  int64_t counted_samples_ = 0;
  int64_t counted_tokens_ = 0;
};

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_SPEED_H_
