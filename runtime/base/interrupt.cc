#include "runtime/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "runtime/base/exit_code.h"

namespace trencadis {
namespace {

// The signal that came, 0 for none.
std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void HandleSignal(int signal) {
  int none = 0;
  if (!g_signal.compare_exchange_strong(none, signal)) _exit(kExitInterrupted);
}

}  // namespace

void InstallInterruptHandler() {
  g_signal = 0;
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  // Reads of files go on after the first signal; the loops notice it.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return g_signal.load(std::memory_order_relaxed) != 0; }

absl::Status InterruptStatus() {
  switch (g_signal.load(std::memory_order_relaxed)) {
    case 0:
      return absl::OkStatus();
    case SIGINT:
      return absl::CancelledError("interrupted by SIGINT");
    default:
      return absl::CancelledError("interrupted by SIGTERM");
  }
}

}  // namespace trencadis
