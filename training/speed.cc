#include "training/speed.h"

#include "absl/strings/str_cat.h"

namespace trencadis::training {

void SpeedMeter::CountStep(int64_t samples, int64_t tokens) {
  ++steps_;
  if (steps_ == warmup_steps_) left_out_s_ = clock_.NowSeconds() - start_s_;
  if (steps_ <= warmup_steps_) return;
  counted_samples_ += samples;
  counted_tokens_ += tokens;
}

void SpeedMeter::LeaveOut(double seconds) {
  // What is left out during the warm-up is part of it.
  if (steps_ >= warmup_steps_) left_out_s_ += seconds;
}

Metrics SpeedMeter::Results(absl::string_view split, bool with_tokens) const {
  const double runtime_s = clock_.NowSeconds() - start_s_;
  const double counted_s = runtime_s - left_out_s_;
  const int64_t counted_steps = steps_ > warmup_steps_ ? steps_ - warmup_steps_ : 0;
  const auto rate = [&](int64_t count) {
    return counted_s > 0 ? Rounded(static_cast<double>(count) / counted_s, 3) : 0.0;
  };
  Metrics metrics;
  metrics.Set(absl::StrCat(split, "_runtime"), Rounded(runtime_s, 4));
  metrics.Set(absl::StrCat(split, "_samples_per_second"), rate(counted_samples_));
  metrics.Set(absl::StrCat(split, "_steps_per_second"), rate(counted_steps));
  if (with_tokens) metrics.Set(absl::StrCat(split, "_tokens_per_second"), rate(counted_tokens_));
  return metrics;
}

}  // namespace trencadis::training
