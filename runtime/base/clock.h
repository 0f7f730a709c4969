// Monotonic time, and a fake of it for tests. Both clocks are thread-safe.
#ifndef TRENCADIS_RUNTIME_BASE_CLOCK_H_
#define TRENCADIS_RUNTIME_BASE_CLOCK_H_

#include <atomic>
#include <chrono>

namespace trencadis {

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since an arbitrary start; never goes back.
  virtual double NowSeconds() = 0;
};

inline Clock& MonotonicClock() {
  class SteadyClock : public Clock {
    double NowSeconds() override {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    }
  };
  static SteadyClock* clock = new SteadyClock;
  return *clock;
}

// Stands still until it is told to advance.
class FakeClock : public Clock {
 public:
  double NowSeconds() override { return now_s_.load(); }
  void AdvanceSeconds(double seconds) { now_s_.fetch_add(seconds); }

 private:
  std::atomic<double> now_s_{0};
};

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_CLOCK_H_
