#include "runtime/base/progress.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/logging.h"

namespace trencadis {
namespace {

constexpr int kBarWidth = 20;

std::string Bar(int64_t steps, int64_t total_steps) {
  const int64_t filled = std::clamp<int64_t>(steps * kBarWidth / total_steps, 0, kBarWidth);
  return absl::StrCat("|", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), "|");
}

// "1:05", "2:00:07".
std::string Duration(double seconds) {
  const int64_t total = static_cast<int64_t>(seconds + 0.5);
  const int64_t hours = total / 3600, minutes = total / 60 % 60;
  if (hours > 0) return absl::StrFormat("%d:%02d:%02d", hours, minutes, total % 60);
  return absl::StrFormat("%d:%02d", minutes, total % 60);
}

}  // namespace

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : MonotonicClock()),
      is_terminal_(options_.is_terminal.value_or(StderrIsTerminal())),
      start_s_(clock_.NowSeconds()),
      last_shown_s_(start_s_),
      steps_(options_.first_step) {}

Progress::~Progress() {
  if (is_terminal_) SetStatusLine("");
}

void Progress::Update(int64_t steps, std::optional<double> loss, int64_t new_tokens) {
  steps_ = steps;
  loss_ = loss;
  tokens_ += new_tokens;
  const double now_s = clock_.NowSeconds();
  const double interval_s = is_terminal_ ? options_.redraw_interval_s : options_.log_interval_s;
  const bool is_last = options_.total_steps > 0 && steps >= options_.total_steps;
  if (now_s - last_shown_s_ < interval_s && !is_last) return;
  last_shown_s_ = now_s;
  if (is_terminal_) {
    SetStatusLine(Line());
  } else {
    TRENCADIS_LOG(INFO) << Line();
  }
}

std::string Progress::Line() const {
  std::string line = options_.label;
  const int64_t total = options_.total_steps;
  if (total > 0) {
    absl::StrAppendFormat(&line, " %3d %% %s  %d/%d", steps_ * 100 / total, Bar(steps_, total),
                          steps_, total);
  } else {
    absl::StrAppend(&line, "  ", steps_);
  }
  if (loss_.has_value()) absl::StrAppendFormat(&line, "  loss %.4f", *loss_);
  const double elapsed_s = clock_.NowSeconds() - start_s_;
  if (elapsed_s <= 0) return line;
  if (tokens_ > 0) absl::StrAppendFormat(&line, "  %.0f tokens/s", tokens_ / elapsed_s);
  const int64_t done_here = steps_ - options_.first_step;
  if (total > 0 && done_here > 0) {
    absl::StrAppend(&line, "  ETA ", Duration(elapsed_s / done_here * (total - steps_)));
  }
  return line;
}

}  // namespace trencadis
