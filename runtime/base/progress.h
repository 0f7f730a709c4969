// How far a long job is: one line at the bottom of a terminal, redrawn in place, or a log line now
// and then where standard error is not a terminal.
//
//   train  42 % |####......|  84/200  loss 2.4153  1234 tokens/s  ETA 1:05
//
// Used by one thread.
#ifndef TRENCADIS_RUNTIME_BASE_PROGRESS_H_
#define TRENCADIS_RUNTIME_BASE_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/clock.h"

namespace trencadis {

struct ProgressOptions {
  std::string label;
  int64_t total_steps = 0;          // 0 when unknown: then there is no percentage and no ETA
  int64_t first_step = 0;           // steps done before, e.g. by the run that is resumed
  double log_interval_s = 10;       // between log lines
  double redraw_interval_s = 0.1;   // between redraws of a terminal's line
  std::optional<bool> is_terminal;  // default: whether standard error is one
  Clock* clock = nullptr;           // default: the monotonic clock; not owned
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  // Removes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // After each step: `steps` done so far, first_step included, the loss if there is one, and the
  // tokens processed since the last call.
  void Update(int64_t steps, std::optional<double> loss, int64_t new_tokens);

  // The line as of now.
  std::string Line() const;

 private:
  ProgressOptions options_;
  Clock& clock_;
  bool is_terminal_;
  double start_s_;
  double last_shown_s_;
  int64_t steps_;
  int64_t tokens_ = 0;
  std::optional<double> loss_;
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_PROGRESS_H_
