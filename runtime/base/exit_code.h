// The exit codes that every tool shares.
#ifndef TRENCADIS_RUNTIME_BASE_EXIT_CODE_H_
#define TRENCADIS_RUNTIME_BASE_EXIT_CODE_H_

#include "absl/status/status.h"

namespace trencadis {

enum ExitCode : int {
  kExitDone = 0,
  kExitError = 1,
  kExitWrongInput = 2,
  kExitOutOfDeviceMemory = 3,
  kExitInterrupted = 130,
};

// ResourceExhausted is reserved for device memory, Cancelled for an interrupt; what the user can
// set right by other flags or files is wrong input.
inline ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return kExitWrongInput;
    case absl::StatusCode::kResourceExhausted:
      return kExitOutOfDeviceMemory;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitError;
  }
}

}  // namespace trencadis

#endif  // TRENCADIS_RUNTIME_BASE_EXIT_CODE_H_
