// Ctrl-C and SIGTERM: the first asks the program to finish in order, the second ends it at once
// with exit code 130. Thread-safe.
#ifndef TRENCADIS_RUNTIME_BASE_INTERRUPT_H_
#define TRENCADIS_RUNTIME_BASE_INTERRUPT_H_

#include "absl/status/status.h"

namespace trencadis {

// Takes over SIGINT and SIGTERM. Tools call it once, at the start.
void InstallInterruptHandler();

// Whether a signal came since InstallInterruptHandler (which also clears it). Cheap: loops ask it
// once per step.
bool Interrupted();

// Cancelled ("interrupted by SIGINT") after a signal, else OK.
absl::Status InterruptStatus();

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_INTERRUPT_H_
